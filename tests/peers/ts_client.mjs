// The TypeScript SDK's client: `ts_client.mjs SDK COMMAND...` prints what it got from the server, as JSON.

const [sdk, command, ...args] = process.argv.slice(2);
const { Client } = await import(`${sdk}/dist/esm/client/index.js`);
const { StdioClientTransport } = await import(`${sdk}/dist/esm/client/stdio.js`);
const { ResultSchema } = await import(`${sdk}/dist/esm/types.js`);

const names = (items) => items.map((item) => item.name);
const codeOf = (call) => call.then(() => null, (error) => error.code);

let revision = null;
const transport = new StdioClientTransport({ command, args });
transport.setProtocolVersion = (version) => { revision = version; };
const client = new Client({ name: "ts-client", version: "1.0" });
client.onerror = (error) => console.error(`client: ${error}`);
await client.connect(transport);

const bad = await client.callTool({ name: "add", arguments: { a: "1" } });
const got = {
  revision,
  server: client.getServerVersion().name,
  tools: names((await client.listTools()).tools),
  resources: names((await client.listResources()).resources),
  templates: names((await client.listResourceTemplates()).resourceTemplates),
  prompts: names((await client.listPrompts()).prompts),
  sum: (await client.callTool({ name: "add", arguments: { a: 1, b: 2 } })).content[0].text,
  bad: [bad.isError, bad.content[0].text],
  big: (await client.callTool({ name: "echo", arguments: { text: "x".repeat(2 ** 20) } })).content[0].text.length,
  resource: (await client.readResource({ uri: "memo://city/oslo" })).contents[0].text,
  prompt: (await client.getPrompt({ name: "describe", arguments: { city: "Oslo" } })).messages[0].content.text,
  completed: (await client.complete({
    ref: { type: "ref/prompt", name: "describe" },
    argument: { name: "city", value: "o" },
  })).completion.values,
  "unknown tool": await codeOf(client.callTool({ name: "none", arguments: {} })),
  "unknown resource": await codeOf(client.readResource({ uri: "memo://none" })),
  "unknown method": await codeOf(client.request({ method: "none/such" }, ResultSchema)),
};
await client.ping();
await client.close();
console.log(JSON.stringify(got));
