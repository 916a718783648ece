import type { Tool } from '@hexagent/agent-core';
import { gitApply } from './git-apply.ts';
import { gitDiff } from './git-diff.ts';
import { gitStatus } from './git-status.ts';
import { shellCommand } from './shell-command.ts';
import { workspaceRead } from './workspace-read.ts';
import { workspaceSearch } from './workspace-search.ts';
import { workspaceWrite } from './workspace-write.ts';

/** What the code assistant can do, the harmless first. */
export const codeAssistantTools: readonly Tool[] = [
  workspaceRead,
  workspaceSearch,
  gitStatus,
  gitDiff,
  workspaceWrite,
  shellCommand,
  gitApply,
];
