/** What this server reads of a chat-completions request; everything else is ignored. */
export type ChatRequest = {
  readonly messages: readonly ChatMessage[];
  /** Empty also when `tool_choice` is `none`. */
  readonly tools: readonly ChatTool[];
  /** The tools of which one must be called; undefined: the model may choose. */
  readonly forced: readonly ChatTool[] | undefined;
  readonly outputSchema: object | undefined;
  /** Undefined where the request names none. */
  readonly maxTokens: number | undefined;
  readonly temperature: number;
  readonly seed: number | undefined;
  readonly ignoreEnd: boolean;
  readonly stream: boolean;
  readonly includeUsage: boolean;
};

export type ChatMessage = {
  readonly role: string;
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly arguments: string }[];
};

export type ChatTool = { readonly name: string; readonly parameters: object };

/** A request that the server refuses, in words for the client. */
export class BadRequest extends Error {}

type Fields = { readonly [name: string]: unknown };

/** Reads the body of a request, or throws `BadRequest`. */
export function parseChatRequest(body: Fields): ChatRequest {
  const tools = body['tool_choice'] === 'none' ? [] : list(body, 'tools').map(parseTool);
  const format = fields(body['response_format'] ?? {}, 'response_format');
  const schema = format['json_schema'];
  const messages = list(body, 'messages').map(parseMessage);
  if (messages.length === 0) throw new BadRequest('messages: at least one is needed.');
  return {
    messages,
    tools,
    forced: forcedTools(body['tool_choice'], tools),
    outputSchema:
      schema === undefined
        ? undefined
        : fields(fields(schema, 'json_schema')['schema'], 'json_schema.schema'),
    maxTokens: number(body, 'max_completion_tokens') ?? number(body, 'max_tokens'),
    temperature: number(body, 'temperature') ?? 0,
    seed: number(body, 'seed'),
    ignoreEnd: body['ignore_eos'] === true,
    stream: body['stream'] === true,
    includeUsage: fields(body['stream_options'] ?? {}, 'stream_options')['include_usage'] === true,
  };
}

/** A JSON object, or `BadRequest`. */
export function fields(value: unknown, at: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new BadRequest(`${at}: an object is needed.`);
  return value as Fields;
}

function parseMessage(value: unknown): ChatMessage {
  const message = fields(value, 'messages[]');
  const { role, content } = message;
  if (typeof role !== 'string') throw new BadRequest('messages[].role: a string is needed.');
  const calls = list(message, 'tool_calls').map((call) => {
    const called = fields(fields(call, 'tool_calls[]')['function'], 'tool_calls[].function');
    return { name: String(called['name']), arguments: String(called['arguments']) };
  });
  return { role, text: textOf(content), calls };
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part) => String(fields(part, 'content[]')['text'] ?? '')).join('');
}

function parseTool(value: unknown): ChatTool {
  const tool = fields(fields(value, 'tools[]')['function'], 'tools[].function');
  return {
    name: String(tool['name']),
    parameters: fields(tool['parameters'] ?? {}, 'tools[].function.parameters'),
  };
}

function forcedTools(choice: unknown, tools: readonly ChatTool[]): readonly ChatTool[] | undefined {
  if (choice === undefined || choice === 'auto' || choice === 'none') return undefined;
  if (choice === 'required') return tools;
  const wanted = fields(fields(choice, 'tool_choice')['function'], 'tool_choice.function')['name'];
  return tools.filter(({ name }) => name === wanted);
}

function list(from: Fields, name: string): readonly unknown[] {
  const value = from[name] ?? [];
  if (!Array.isArray(value)) throw new BadRequest(`${name}: a list is needed.`);
  return value;
}

function number(from: Fields, name: string): number | undefined {
  const value = from[name] ?? undefined;
  if (value === undefined) return undefined;
  if (typeof value !== 'number') throw new BadRequest(`${name}: a number is needed.`);
  return value;
}
