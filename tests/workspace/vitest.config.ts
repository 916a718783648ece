import { mergeConfig } from 'vitest/config';
import { project } from '../../vitest.shared.ts';

// These tests start compilers and package managers.
export default mergeConfig(project('test-workspace'), { test: { testTimeout: 120_000 } });
