// Runs Finnhub's sample with the URL that is the first argument, on the package ws in the place of a browser's WebSocket, and
// unsubscribes the symbols that come as lines.
const fs = require('fs');
const path = require('path');
const readline = require('readline');
const vm = require('vm');

globalThis.WebSocket = require('ws');
const theirs = 'wss://ws.finnhub.io?token=';
const file = path.join(__dirname, 'sample.js');
const parts = fs.readFileSync(file, 'utf8').split(theirs);
if (parts.length !== 2) throw new Error('the sample has not one URL');
vm.runInThisContext(parts.join(process.argv[2]), { filename: file });

// What keeps the program is the socket, not the lines.
readline.createInterface({ input: process.stdin }).on('line', (symbol) => unsubscribe(symbol));
process.stdin.unref?.();
