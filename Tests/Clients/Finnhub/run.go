// The addition to Finnhub's sample by build: the URL is the first argument. In the program with the
// call of requests, the symbols on standard input are unsubscribed, one per line; the documentation's sample does not show how.

package main

import (
	"bufio"
	"encoding/json"
	"os"

	"github.com/gorilla/websocket"
)

func requests(w *websocket.Conn) {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		msg, _ := json.Marshal(map[string]interface{}{"type": "unsubscribe", "symbol": lines.Text()})
		w.WriteMessage(websocket.TextMessage, msg)
	}
}

func relay() string { return os.Args[1] }
