// As much of gRPC and Protocol Buffers as a bare etcd client needs (etcd's rpc.proto has the field numbers).

/** @param {readonly [field: number, value: Buffer | number | undefined][]} fields those that are undefined are left out */
export function encode(fields) {
  return Buffer.concat(
    fields.flatMap(([field, value]) => {
      if (value === undefined) return [];
      if (typeof value === 'number') return [varint(field << 3), varint(value)];
      return [varint((field << 3) | 2), varint(value.length), value];
    }),
  );
}

/** The fields of a message: `[field, number or bytes]`. */
export function* decode(bytes) {
  let at = 0;
  const number = () => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at++];
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const tag = number();
    if ((tag & 7) === 0) yield [tag >> 3, number()];
    else if ((tag & 7) === 2) {
      const end = number() + at;
      yield [tag >> 3, bytes.subarray(at, end)];
      at = end;
    } else throw new Error(`a field of the wire type ${tag & 7}`);
  }
}

export function frame(message) {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/** Calls `onMessage` with every message of a gRPC stream. */
export function readFrames(stream, onMessage) {
  let parts = [];
  let length = 0;
  stream.on('data', (chunk) => {
    parts.push(chunk);
    length += chunk.length;
    for (;;) {
      if (length < 5) return;
      if (parts[0].length < 5) parts = [Buffer.concat(parts)];
      const needed = 5 + parts[0].readUInt32BE(1);
      if (length < needed) return;
      const all = parts.length === 1 ? parts[0] : Buffer.concat(parts);
      parts = needed === length ? [] : [all.subarray(needed)];
      length -= needed;
      onMessage(all.subarray(5, needed));
    }
  });
}

function varint(value) {
  const bytes = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return Buffer.from([...bytes, rest]);
}
