// Runs Finnhub's sample with the URL in the first argument, with the package ws instead of a browser's WebSocket, and
// unsubscribes the symbols on standard input, one per line.
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

// The socket keeps the program running, standard input does not.
readline.createInterface({ input: process.stdin }).on('line', (symbol) => unsubscribe(symbol));
process.stdin.unref?.();
