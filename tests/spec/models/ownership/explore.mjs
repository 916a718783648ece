/**
 * Explores the model: breadth first over every interleaving (so that a counterexample is a shortest one), or by random
 * walks where the state space is too large.
 *
 *   node explore.mjs                       every scenario, all rules on
 *   node explore.mjs NAME …                these scenarios
 *   node explore.mjs --rules               each rule off in turn: it must be refuted, and the trace is printed
 *   node explore.mjs --rules RULE …        these rules
 *   node explore.mjs --walks 20000         random walks over the large scenarios (--seed N)
 *   node explore.mjs --cycles NAME …       depth first: no run of steps comes back to where it was
 *   --limit N                              stop a search after N states (default 4,000,000)
 */
import { broken, initial, isTerminal, RULES, steps, stranded } from './model.mjs';
import { DEEP, LARGE, REFUTATIONS, SCENARIOS } from './scenarios.mjs';

/** Breadth-first search. Returns the number of states and, if something is broken, the shortest trace to it. */
export function search(scenario, rules = RULES, limit = 4_000_000) {
  const seen = new HashSet(limit);
  const parents = [-1];
  const choices = [-1];
  const ends = { completed: 0, failed: 0, cancelled: 0, waiting: 0 };
  let edges = 0;
  let depth = 0;
  let level = [[0, JSON.stringify(initial(scenario))]];
  seen.add(level[0][1]);
  while (level.length > 0) {
    const next = [];
    for (const [id, text] of level) {
      const state = JSON.parse(text);
      const possible = steps(state, scenario, rules);
      if (!possible.some((step) => step.fair)) {
        const why = stranded(state);
        if (why)
          return {
            states: seen.size,
            edges,
            depth,
            why,
            trace: replay(scenario, rules, pathTo(id, parents, choices)),
          };
        ends[isTerminal(state) ? state.tree.status : 'waiting'] += 1;
      }
      for (let choice = 0; choice < possible.length; choice += 1) {
        edges += 1;
        const after = JSON.stringify(possible[choice].state);
        if (!seen.add(after)) continue;
        parents.push(id);
        choices.push(choice);
        const child = parents.length - 1;
        const why = broken(possible[choice].state, rules);
        if (why)
          return {
            states: seen.size,
            edges,
            depth: depth + 1,
            why,
            trace: replay(scenario, rules, pathTo(child, parents, choices)),
          };
        if (seen.size >= limit) return { states: seen.size, edges, depth, ends, stopped: true };
        next.push([child, after]);
      }
    }
    level = next;
    depth += 1;
  }
  return { states: seen.size, edges, depth: depth - 1, ends };
}

/** Is some cycle possible? Without one, "no fair step is left" is the end of every fair run, and `stranded` is the whole liveness check. */
export function hasCycle(scenario, rules = RULES, limit = 400_000) {
  const colour = new Map(); // hash → true while on the stack, false when done
  const open = (text) => {
    colour.set(hashOf(text), true);
    return {
      text,
      next: steps(JSON.parse(text), scenario, rules).map((step) => JSON.stringify(step.state)),
    };
  };
  const stack = [open(JSON.stringify(initial(scenario)))];
  while (stack.length > 0) {
    const top = stack.at(-1);
    const text = top.next.pop();
    if (text === undefined) {
      colour.set(hashOf(top.text), false);
      stack.pop();
      continue;
    }
    const known = colour.get(hashOf(text));
    if (known === true) return { cycle: true, states: colour.size };
    if (known === undefined) {
      if (colour.size >= limit) return { cycle: false, states: colour.size, stopped: true };
      stack.push(open(text));
    }
  }
  return { cycle: false, states: colour.size };
}

/** Random walks; a failing walk is shortened by dropping steps while it still fails the same way. */
export function walk(scenario, rules, walks, seed = 1) {
  const random = generator(seed);
  let visited = 0;
  let longest = 0;
  const distinct = new HashSet(8_000_000);
  for (let n = 0; n < walks; n += 1) {
    let state = initial(scenario);
    const labels = [];
    for (;;) {
      const possible = steps(state, scenario, rules);
      const fair = possible.filter((step) => step.fair);
      if (fair.length === 0) {
        const why = stranded(state);
        if (why) return { visited, why, trace: shorten(scenario, rules, labels, why) };
        if (possible.length === 0 || random() < 0.5) break;
      }
      const pool = fair.length > 0 && random() < 0.6 ? fair : possible;
      const chosen = pool[Math.floor(random() * pool.length)];
      state = chosen.state;
      labels.push(chosen.label);
      visited += 1;
      if (distinct.size < 7_900_000) distinct.add(JSON.stringify(state));
      const why = broken(state, rules);
      if (why) return { visited, why, trace: shorten(scenario, rules, labels, why) };
    }
    longest = Math.max(longest, labels.length);
  }
  return { visited, distinct: distinct.size, longest, walks };
}

function verdict(scenario, rules, labels) {
  let state = initial(scenario);
  for (const label of labels) {
    const step = steps(state, scenario, rules).find((candidate) => candidate.label === label);
    if (!step) return undefined;
    state = step.state;
    const why = broken(state, rules);
    if (why) return why;
  }
  return steps(state, scenario, rules).some((step) => step.fair) ? undefined : stranded(state);
}

function shorten(scenario, rules, labels, why) {
  let trace = labels;
  for (let again = true; again; ) {
    again = false;
    for (let at = trace.length - 1; at >= 0; at -= 1) {
      const shorter = trace.toSpliced(at, 1);
      if (verdict(scenario, rules, shorter) === why) {
        trace = shorter;
        again = true;
      }
    }
  }
  return trace;
}

function pathTo(id, parents, choices) {
  const path = [];
  for (let at = id; at > 0; at = parents[at]) path.push(choices[at]);
  return path.reverse();
}

function replay(scenario, rules, path) {
  let state = initial(scenario);
  return path.map((choice) => {
    const step = steps(state, scenario, rules)[choice];
    state = step.state;
    return step.label;
  });
}

/** Set of 53-bit hashes, open addressing; the chance of a collision among ten million states is about one in a hundred. */
class HashSet {
  constructor(limit) {
    this.mask = 2 ** Math.ceil(Math.log2(limit * 1.6)) - 1;
    this.slots = new Float64Array(this.mask + 1);
    this.size = 0;
  }
  add(text) {
    const hash = hashOf(text);
    for (let slot = (hash % 4294967296) & this.mask; ; slot = (slot + 1) & this.mask) {
      if (this.slots[slot] === hash) return false;
      if (this.slots[slot] === 0) {
        this.slots[slot] = hash;
        this.size += 1;
        return true;
      }
    }
  }
}

function hashOf(text) {
  let one = 0xdeadbeef;
  let two = 0x41c6ce57;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    one = Math.imul(one ^ code, 2654435761);
    two = Math.imul(two ^ code, 1597334677);
  }
  one = Math.imul(one ^ (one >>> 16), 2246822507) ^ Math.imul(two ^ (two >>> 13), 3266489909);
  two = Math.imul(two ^ (two >>> 16), 2246822507) ^ Math.imul(one ^ (one >>> 13), 3266489909);
  return 4294967296 * (2097151 & two) + (one >>> 0) || 1;
}

function generator(seed) {
  let value = seed >>> 0;
  return () => {
    value = (value + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(value ^ (value >>> 15), value | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

// ── Command line ─────────────────────────────────────────────────────────────────────────────────────────────────────

function printTrace(trace) {
  for (const [at, label] of trace.entries()) {
    console.log(`    ${String(at + 1).padStart(2)}. ${label}`);
  }
}

function report(name, result, started) {
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  const size = `${result.states.toLocaleString('en')} states, ${result.edges.toLocaleString('en')} steps, depth ${result.depth}, ${seconds} s`;
  if (result.why) {
    console.log(`✗ ${name}: ${result.why} (${size})`);
    printTrace(result.trace);
    return false;
  }
  console.log(
    `${result.stopped ? '…' : '✓'} ${name}: ${size}${result.stopped ? ', stopped at the limit' : ''} · ends ${JSON.stringify(result.ends)}`,
  );
  return true;
}

function main(argv) {
  const option = (name) => {
    const at = argv.indexOf(name);
    return at < 0 ? undefined : Number(argv.splice(at, 2)[1]);
  };
  const limit = option('--limit') ?? 4_000_000;
  const walks = option('--walks');
  const seed = option('--seed') ?? 1;
  const byRule = argv.includes('--rules');
  const cycles = argv.includes('--cycles');
  const names = argv.filter((word) => !word.startsWith('--'));
  const chosen = (list) =>
    list.filter((item) => names.length === 0 || names.includes(item.name ?? item.rule));
  let good = true;
  if (byRule) {
    for (const { rule, but = {}, scenario } of chosen(REFUTATIONS)) {
      const started = Date.now();
      const rules = { ...RULES, [rule]: false, ...but };
      const result = search(scenario, rules, limit);
      report(
        `without ${rule}${Object.keys(but)
          .map((name) => `, with ${name}`)
          .join('')}`,
        result,
        started,
      );
      if (!result.why) {
        good = false;
        console.log('    NOT REFUTED');
      }
    }
  } else if (walks) {
    for (const scenario of chosen(LARGE)) {
      const result = walk(scenario, RULES, walks, seed);
      if (result.why) {
        good = false;
        console.log(`✗ ${scenario.name}: ${result.why}`);
        printTrace(result.trace);
      } else
        console.log(
          `✓ ${scenario.name}: ${result.walks.toLocaleString('en')} walks, ${result.visited.toLocaleString('en')} steps, ${result.distinct.toLocaleString('en')} distinct states, longest ${result.longest}`,
        );
    }
  } else if (cycles) {
    for (const scenario of chosen(SCENARIOS)) {
      const result = hasCycle(scenario, RULES);
      console.log(
        `${result.cycle ? '✗ cycle' : '✓ no cycle'} in ${scenario.name}: ${result.states.toLocaleString('en')} states${result.stopped ? ' (stopped)' : ''}`,
      );
      good &&= !result.cycle;
    }
  } else {
    for (const scenario of names.length === 0 ? SCENARIOS : chosen([...SCENARIOS, ...DEEP])) {
      const started = Date.now();
      good = report(scenario.name, search(scenario, RULES, limit), started) && good;
    }
  }
  process.exitCode = good ? 0 : 1;
}

if (import.meta.url === `file://${process.argv[1]}`) main(process.argv.slice(2));
