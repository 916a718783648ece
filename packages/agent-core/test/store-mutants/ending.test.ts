import { claiming } from '../../src/testing/store-contract/claiming.ts';
import { creating } from '../../src/testing/store-contract/creating.ts';
import { releasing } from '../../src/testing/store-contract/releasing.ts';
import { remembering } from '../../src/testing/store-contract/remembering.ts';
import { afterCommit, noticed, sendingCommit } from './mutant.ts';

noticed([...releasing, ...claiming, ...creating, ...remembering], {
  'progress resets nothing': sendingCommit(() => ({ progress: false })),
  'the poison question resets nothing': sendingCommit(({ poison: _, ...commit }) => ({
    ...commit,
    poison: undefined as never,
  })),
  'every commit is progress': sendingCommit(() => ({ progress: true })),
  'every commit takes the delivery back': afterCommit(
    ({ head }, _, before) => (head.deliveries = Math.max(0, before.head.deliveries - 1)),
  ),
  'a release takes no delivery back': afterCommit(
    ({ head }, { release, progress, poison }, before) => {
      if (release && !progress && !poison) head.deliveries = before.head.deliveries;
    },
  ),
  'deliveries go below zero': afterCommit(({ head }, { release, progress }, before) => {
    if (release && !progress) head.deliveries = before.head.deliveries - 1;
  }),
  'a release keeps the lease': afterCommit(({ head }, { release }, before) => {
    if (release)
      Object.assign(head, { owner: before.head.owner, leaseUntil: before.head.leaseUntil });
  }),
  'a release is not remembered': afterCommit(({ head }) => (head.released = false)),
  'an end keeps the lease': afterCommit(({ head }, { release }, before) => {
    if (!release) head.owner = before.head.owner;
  }),
  'an end does not let the next run in': afterCommit((root, { closeInbox }) => {
    if (closeInbox && !root.conversation.roots.includes(root.rootRunId))
      root.conversation.roots.unshift(root.rootRunId);
  }),
  'only a settled run lets the next one in': afterCommit((root, { closeInbox, settleTurn }) => {
    if (closeInbox && !settleTurn) root.conversation.roots.unshift(root.rootRunId);
  }),
  'every end is a turn': afterCommit(({ conversation, rootRunId }, { closeInbox, settleTurn }) => {
    if (closeInbox && !settleTurn) conversation.turns.push(rootRunId);
  }),
});
