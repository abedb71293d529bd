// What etcd3 reads at run time, made ready at build time.

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';

/** The calls that src/datastore/etcd makes. Messages of all others would cost time at every start. */
const CALLS = { KV: ['Range'], Watch: ['Watch'], Auth: ['Authenticate'] };

/**
 * An esbuild plugin. etcd3 parses .proto files that lie beside its code; in a bundle it gets what they say as JSON, in
 * the form that protobufjs has for that.
 */
export const etcdProtoAsJson = {
  name: 'etcd-proto-as-json',
  setup({ onLoad }) {
    onLoad({ filter: /etcd3\/lib\/connection-pool\.js$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      // biome-ignore lint/suspicious/noTemplateCurlyInString: etcd3's own code, word for word
      const call = 'loadSync)(`${__dirname}/../proto/rpc.proto`, ';
      if (text.split(call).length !== 2)
        throw new Error(`${path} does not load its .proto file as it used to`);
      const json = JSON.stringify(JSON.stringify(readProto(path)));
      return { contents: text.replace(call, () => `fromJSON)(JSON.parse(${json}), `), loader: 'js' };
    });
  },
};

function readProto(path) {
  const { Root } = createRequire(path)('protobufjs');
  const proto = new Root();
  const directory = join(dirname(path), '..', 'proto');
  proto.resolvePath = (_origin, target) => join(directory, basename(target));
  proto.loadSync('rpc.proto', { keepCase: true }).resolveAll();
  const wanted = new Set();
  for (const [service, calls] of Object.entries(CALLS))
    keepService(proto.lookupService(service), calls, wanted);
  const json = proto.toJSON();
  for (const [name, space] of Object.entries(json.nested)) {
    const keep = Object.entries(space.nested).filter(([inner]) => wanted.has(`${name}.${inner}`));
    space.nested = Object.fromEntries(keep);
  }
  return json;
}

function keepService(service, calls, wanted) {
  wanted.add(service.fullName.slice(1));
  for (const method of service.methodsArray) {
    if (!calls.includes(method.name)) service.remove(method);
    else for (const type of [method.resolvedRequestType, method.resolvedResponseType]) keepType(type, wanted);
  }
}

/** A type and all that its fields hold; of a type inside another one the outermost, which has the others in it. */
function keepType(type, wanted) {
  let outer = type;
  while (outer.parent.fields !== undefined) outer = outer.parent;
  const name = outer.fullName.slice(1);
  if (wanted.has(name)) return;
  wanted.add(name);
  for (const field of fieldsOf(outer)) if (field.resolvedType) keepType(field.resolvedType, wanted);
}

/** With those of types inside it; an enum has none. */
function fieldsOf(type) {
  return [...(type.fieldsArray ?? []), ...(type.nestedArray ?? []).flatMap(fieldsOf)];
}
