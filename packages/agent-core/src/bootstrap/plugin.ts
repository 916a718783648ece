import type { Stop } from '../base/abort.ts';
import type { Problem } from '../base/error-catalog.ts';
import type { JsonObject } from '../base/json.ts';
import type { AnyPort, Binding, Port } from '../base/port.ts';
import type { RunGateway } from '../gateway/run-gateway.ts';

/** The edition of this contract between core and plugins. */
export const CONTRACT = 1;

/** What a package says about itself: plain data, checked before anything runs. */
export type Manifest = {
  readonly name: string;
  readonly version: string;
  readonly contract: typeof CONTRACT;
  /** Ids of the ports that `setup` binds, all of them and no others. */
  readonly contributes: readonly string[];
  /** Ids of the ports that `setup` asks its context for. */
  readonly requires: readonly string[];
  /** A JSON Schema of the options that are data; functions and objects beside them are the plugin's own to check. */
  readonly options: JsonObject;
};

/** What a plugin sees while it is set up. */
export interface SetupContext {
  get<T>(port: Port<T>): T;
  all<T>(port: Port<T, 'many'>): readonly T[];
  /** What the plugins have bound that this one is composed of, by their places; there for a plugin that is. Each was set up under its own name. */
  readonly composed?: ReadonlyMap<string, readonly Binding[]>;
  /** Runs when every plugin is set up and every agent is checked, in order. */
  onStart(step: (gateway: RunGateway, stop: Stop) => Promise<void>): void;
  /** Runs at `close`, in reverse order. */
  onClose(step: (stop: Stop) => Promise<void>): void;
}

export interface Plugin {
  readonly manifest: Manifest;
  /** The options that were given, for the check against the manifest. */
  readonly options: unknown;
  /**
   * Plugins that this one puts together, by the places where they were given: `routes.fast`. Bootstrap checks and sets them up
   * like those that are listed; what they bind goes to this plugin, which binds what it makes of it, and the rest as it is.
   */
  readonly composed?: Readonly<Record<string, Plugin>>;
  /** What the plugin itself finds wrong with its options, by their places: reported with everything else before anything is set up. */
  readonly problems?: readonly Problem[];
  setup(context: SetupContext): readonly Binding[] | Promise<readonly Binding[]>;
}

export type PluginSpec<Options> = {
  readonly manifest: Omit<Manifest, 'contributes' | 'requires'> & {
    readonly contributes: readonly AnyPort[];
    readonly requires: readonly AnyPort[];
  };
  readonly setup: (
    options: Options,
    context: SetupContext,
  ) => readonly Binding[] | Promise<readonly Binding[]>;
};

/** A factory of plugins, with its manifest beside it, so that `hexagent plugins` can read it without options. */
export interface PluginFactory<Options> {
  (options: Options): Plugin;
  readonly manifest: Manifest;
}

/** Declares what a package contributes. Setting up waits for `bootstrap`, which checks the manifest first. */
export function definePlugin<Options>(spec: PluginSpec<Options>): PluginFactory<Options> {
  const manifest: Manifest = Object.freeze({
    ...spec.manifest,
    contributes: spec.manifest.contributes.map((port) => port.id),
    requires: spec.manifest.requires.map((port) => port.id),
  });
  const make = (options: Options): Plugin => ({
    manifest,
    options,
    setup: (context) => spec.setup(options, context),
  });
  return Object.assign(make, { manifest });
}
