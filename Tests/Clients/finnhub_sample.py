"""A client based on the Python sample of Finnhub's documentation (websocket-client's WebSocketApp and its callbacks).

The URL and the symbols are arguments, the trace is off, and each message is a line that is flushed.
"""
import sys

import websocket


def on_message(ws, message):
    print(message, flush=True)


def on_error(ws, error):
    print(error, file=sys.stderr)


def on_close(ws, code, reason):
    print("### closed ###", code, reason, file=sys.stderr)


def on_open(ws):
    for symbol in sys.argv[2:]:
        ws.send('{"type":"subscribe","symbol":"%s"}' % symbol)


if __name__ == "__main__":
    websocket.enableTrace(False)
    ws = websocket.WebSocketApp(
        sys.argv[1] + "?token=whatever", on_message=on_message, on_error=on_error, on_close=on_close
    )
    ws.on_open = on_open
    ws.run_forever()
