import { mergeConfig } from 'vitest/config';
import { project } from '../../vitest.shared.ts';

// What speaks to PostgreSQL is covered by tests/stores, which brings a server; from the root both count.
export default mergeConfig(project('agent-kysely'), {
  test: { coverage: { exclude: ['src/postgres/**'] } },
});
