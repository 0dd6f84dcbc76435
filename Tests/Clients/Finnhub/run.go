// What build adds to Finnhub's sample: the URL is the first argument, and where the one line that calls requests is put in, too,
// the symbols that come as lines are unsubscribed. The documentation's sample in Go does not show how.

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
