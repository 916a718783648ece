import { test } from 'vitest';
import { resumeAfterRestart } from '../src/scenarios/restart.ts';
import { HOSTS } from '../src/stage.ts';

test.each(HOSTS)('an interrupt outlives its process, behind %s', resumeAfterRestart);
