import type { AgentEvent } from '@hexagent/agent-core';
import {
  EventFeed,
  type FeedOptions,
} from '../../../../packages/agent-core/src/runner/event-feed.ts';
import { SPAN } from '../../models/sequence/model.mjs';
import { RealOwner } from './real-owner.ts';
import { REAL_PARTS } from './real-parts.ts';

/** The product, weakened in one place: each must be refuted, else the schedules would not notice a real fault. */
export const REAL_MUTANTS = {
  'shown before stored': class extends RealOwner {
    override cut(): void {
      super.cut();
      this.feed.confirm(this.flight?.lastSeq ?? 0);
    }
  },
  'no rewound': class extends RealOwner {
    override mark(event: AgentEvent): void {
      if (event.type !== 'rewound' || event.after === undefined) super.mark(event);
    }
  },
  'rewound without steps': class extends RealOwner {
    override marks(head: Parameters<RealOwner['marks']>[0]): void {
      super.marks({ ...head, released: false, openSteps: [] });
    }
  },
  'release with open steps': class extends RealOwner {
    override marks(head: Parameters<RealOwner['marks']>[0]): void {
      super.marks(head.released ? { ...head, openSteps: [] } : head);
    }
  },
  'the end is not withdrawn': class extends RealOwner {
    override withdraw(): void {}
  },
  'live events after a release': class extends RealOwner {
    override quiet(): void {}
  },
  'a reader of a newer owner joins': class extends RealOwner {
    override makeFeed(options: FeedOptions): EventFeed {
      return new (class extends EventFeed {
        override joinAt(cursor: number): number | undefined {
          return super.joinAt(Math.min(cursor, (options.fence + 1) * SPAN - 1));
        }
      })(options);
    }
  },
  'a reader joins below what is kept': class extends RealOwner {
    override makeFeed(options: FeedOptions): EventFeed {
      return new (class extends EventFeed {
        override joinAt(cursor: number): number | undefined {
          return super.joinAt(Math.max(cursor, options.floor ?? 0));
        }
      })(options);
    }
  },
} as const;

export type RealMutant = keyof typeof REAL_MUTANTS;

export function mutated(name: RealMutant): typeof REAL_PARTS {
  return { ...REAL_PARTS, Owner: REAL_MUTANTS[name] };
}
