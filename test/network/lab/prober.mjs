// Runs in the namespace of a pod: answers what comes to its UDP port, and sends to others and counts what comes back.
// Spoken to over Node's IPC channel: `{ start: { everyMs, targets: [{ name, address }] } }`, then `{ stop: true }`, which is
// answered with one result for each target once answers had a second to arrive.

import { createSocket } from 'node:dgram';

const PORT = 7;
const PATIENCE_MS = 1_000;

const sockets = { 4: open('udp4', '0.0.0.0'), 6: open('udp6', '::') };
let flows = [];
let timer;

process.on('message', (message) => {
  if (message.start !== undefined) start(message.start);
  else if (message.stop !== undefined) stop();
});
process.on('disconnect', () => process.exit(0));
await Promise.all([sockets[4].listening, sockets[6].listening]);
process.send({ ready: true });

function open(type, address) {
  const socket = createSocket({ type, ipv6Only: type === 'udp6' });
  socket.on('error', () => {});
  socket.on('message', (message, from) => {
    // A question is 9 bytes: what it is, which flow, which number. The answer differs in the first.
    if (message[0] === 1) {
      message[0] = 2;
      socket.send(message, from.port, from.address, () => {});
    } else flows[message.readUInt32BE(1)]?.answered.add(message.readUInt32BE(5));
  });
  const listening = new Promise((resolve) => socket.bind({ port: PORT, address, exclusive: true }, resolve));
  return { socket, listening };
}

function start({ everyMs, targets }) {
  flows = targets.map((target) => ({ ...target, sentAt: [], answered: new Set() }));
  timer = setInterval(() => flows.forEach(send), everyMs);
}

function send({ address, sentAt }, index) {
  const message = Buffer.alloc(9, 1);
  message.writeUInt32BE(index, 1);
  message.writeUInt32BE(sentAt.length, 5);
  sentAt.push(Date.now());
  // No route is a loss, too: nothing is answered.
  sockets[address.includes(':') ? 6 : 4].socket.send(message, PORT, address, () => {});
}

function stop() {
  clearInterval(timer);
  setTimeout(() => process.send({ results: flows.map(result) }), PATIENCE_MS);
}

/** The longest outage is from the first of a row of losses to the next probe that was answered. */
function result({ name, sentAt, answered }) {
  let lost = 0;
  let longestMs = 0;
  let from = null;
  for (const [number, at] of sentAt.entries()) {
    if (answered.has(number)) from = null;
    else {
      lost += 1;
      from ??= at;
      longestMs = Math.max(longestMs, (sentAt[number + 1] ?? at) - from);
    }
  }
  return { name, sent: sentAt.length, lost, longestMs };
}
