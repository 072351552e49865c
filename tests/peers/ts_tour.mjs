// The TypeScript SDK's client sees all that server-everything has: `ts_tour.mjs SDK COMMAND...`.

const [sdk, command, ...args] = process.argv.slice(2);
const { Client } = await import(`${sdk}/dist/esm/client/index.js`);
const { StdioClientTransport } = await import(`${sdk}/dist/esm/client/stdio.js`);
const types = await import(`${sdk}/dist/esm/types.js`);

const client = new Client(
  { name: "ts-tour", version: "1.0" },
  { capabilities: { roots: { listChanged: true }, sampling: {}, elicitation: { form: {} } } },
);
client.setRequestHandler(types.ListRootsRequestSchema, () => ({ roots: [{ uri: "file:///srv/data", name: "data" }] }));
client.setRequestHandler(types.CreateMessageRequestSchema, () => (
  { role: "assistant", model: "a-model", content: { type: "text", text: "The model says hello. 👋" } }
));
client.setRequestHandler(types.ElicitRequestSchema, () => ({ action: "decline" }));
await client.connect(new StdioClientTransport({ command, args }));

const call = (name, args, options) => client.callTool({ name, arguments: args }, undefined, options);
await client.listTools();
await client.listResources();
await client.listResourceTemplates();
await client.listPrompts();
await client.setLoggingLevel("info");
await call("echo", { message: "Blåbærsyltetøy 🫐" });
await Promise.all([call("get-sum", { a: 1, b: 2 }), call("get-sum", { a: 3, b: 4 }), call("get-tiny-image", {})]);
await call("get-sum", { a: "one", b: 2 });
await call("get-structured-content", { location: "Chicago" });
await call("trigger-sampling-request", { prompt: "Say hello" });
await call("trigger-elicitation-request", {});
await call("get-roots-list", {});
await call("trigger-long-running-operation", { duration: 0.3, steps: 3 }, { onprogress: () => {} });
const giveUp = new AbortController();
const given = call("trigger-long-running-operation", { duration: 1, steps: 1 }, { signal: giveUp.signal });
setTimeout(() => giveUp.abort("too slow"), 200);
await given.catch(() => {});
const research = client.experimental.tasks.callToolStream({ name: "simulate-research-query", arguments: { topic: "fjords" } });
for await (const _ of research);
const [{ uri }] = (await client.listResources()).resources;
await client.subscribeResource({ uri });
await client.readResource({ uri });
await client.unsubscribeResource({ uri });
await client.readResource({ uri: "demo://none" }).catch(() => {});
await client.getPrompt({ name: "args-prompt", arguments: { city: "Oslo" } });
await client.complete({
  ref: { type: "ref/prompt", name: "completable-prompt" },
  argument: { name: "department", value: "E" },
});
await client.sendRootsListChanged();
await client.request({ method: "none/such" }, types.ResultSchema).catch(() => {});
await client.ping();
await client.close();
