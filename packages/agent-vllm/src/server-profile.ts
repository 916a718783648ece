import type { ModelCapabilities } from '@hexagent/agent-core';

/** How a source of media may be written down: by its address, or with its bytes in the request. */
export type MediaSourceKind = 'url' | 'inline';

/** What one kind of server wants and can do, as data. */
export type ServerProfile = {
  /** Also the name of the provider where the option `id` gives none: opaque state finds its way back by it. */
  readonly name: string;
  /** Under which name earlier reasoning is sent back; `none` leaves it out. */
  readonly reasoningReplay: 'reasoning' | 'reasoning_content' | 'reasoning_details' | 'none';
  /** How the option `thinking` is said; `none` refuses the option. */
  readonly thinking: ThinkingStyle;
  /** `extra_content`: what the server attached to a tool call, such as a signature, goes back with that call. */
  readonly callState: 'extra_content' | 'none';
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens';
  /** Whether `stream_options.include_usage` is understood. */
  readonly streamUsage: boolean;
  /** Whether tools are sent with `strict: true`. */
  readonly strictTools: boolean;
  /** `nine-characters`: ids are rewritten to nine letters and digits, as Mistral's templates demand. */
  readonly toolCallIds: 'keep' | 'nine-characters';
  /** `only-that-tool`: a named tool is chosen by offering no other. `ignored`: the server does not read the field. */
  readonly toolChoice: 'all' | 'only-that-tool' | 'ignored';
  /** `final-only`: a schema suppresses tool calls, so it is never sent while a tool may be called. */
  readonly structuredOutput: ModelCapabilities['structuredOutput'];
  /** How a whole request is counted: with its template in one call, by rendering the template first, or not at all. */
  readonly tokenCount: 'tokenize-messages' | 'template-then-tokenize' | 'none';
  /** Where the context window of a model is told. */
  readonly contextWindow: 'models' | 'models-and-props' | 'none';
  /** Whose names `/metrics` uses; `none` has no load to tell. */
  readonly metrics: 'vllm' | 'sglang' | 'llama.cpp' | 'none';
  /**
   * What the server does with a repeated prompt. `automatic`: it finds a known prefix by itself, and hints are not
   * sent. `marked`: only what `cache_control` marks is kept, by some of the models behind it. `none`: nothing.
   */
  readonly promptCache: 'automatic' | 'marked' | 'none';
  /** Whether `cache_salt` keeps one tenant's prefixes from another's. */
  readonly cacheSalt: boolean;
  /** Whether `priority` is read. */
  readonly priority: boolean;
  /** What a prompt that does not fit is answered with. `truncated`: it is cut without a word. */
  readonly overflow: 'refused' | 'truncated';
  /** Which media a message may carry, and how. */
  readonly media: {
    readonly image: readonly MediaSourceKind[];
    readonly audio: readonly MediaSourceKind[];
    readonly video: readonly MediaSourceKind[];
    readonly document: readonly MediaSourceKind[];
  };
  /** How the bytes of audio are written down. */
  readonly inlineAudio: 'input_audio' | 'audio_url';
};

/**
 * - `template`: arguments of the chat template, and `reasoning_effort` beside them;
 * - `template-only`: the effort is an argument of the template too;
 * - `effort`: `reasoning_effort` alone, where `none` is off;
 * - `reasoning`: an object `reasoning`.
 */
export type ThinkingStyle = 'template' | 'template-only' | 'effort' | 'reasoning' | 'none';
