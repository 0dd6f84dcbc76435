// Package tickertape is a client of /v1/stream that keeps its place: it reconnects, resumes after the last trade, and
// reports what is missing as events. Prices and sizes are exact decimal texts, which big.Rat reads.
package tickertape

import (
	"context"
	"fmt"
	"math/rand"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/gorilla/websocket"
)

type (
	// Event is one of these, a Price, a Trade, or another message of the relay, such as a GapMessage.
	Event         interface{}
	Connected     struct{ Attempt int }    // The WebSocket is open.
	ProtocolError struct{ Message string } // A message cannot be understood; the connection goes on.
	Missed        struct{ Trades int64 }   // This client was too slow and is closed; the resume brings them.
	Disconnected  struct {
		Code   int // of the relay's close frame; 0 without one
		Reason string
		Retry  bool
	}
)

// Waiting does not cure these: the request, the token or this client is wrong.
var final = map[int]bool{400: true, 401: true, 403: true, 404: true, 421: true, 1002: true, 1003: true, 1007: true,
	1008: true, 1009: true}

// Client follows one relay, once Run is called. Its methods may be called from any goroutine.
type Client struct {
	URL                    string        // such as ws://127.0.0.1:8080/v1/stream
	Symbols                []string      // nil for everything
	Delivery, Every        string        // latest if empty, all, or every with an interval such as 250ms
	Bars                   string        // also subscribe to bars of this width
	Overflow               string        // what happens when this client is too slow: latest or close
	Since                  string        // EPOCH:SEQ, the Place that an earlier run kept
	Token                  string        // the relay's token
	MinBackoff, MaxBackoff time.Duration // 250 ms and 30 s if 0
	Silence                time.Duration // 30 s if 0: without a message this long it asks, twice it reconnects

	writing          sync.Mutex           // of requests
	mutex            sync.Mutex           // of Symbols and all below
	conn             *websocket.Conn      // the last with a hello
	hello            HelloMessage         // the newest
	helloAt          time.Time            // its arrival
	epoch, seq, live int64                // where to resume, and the epoch of the trades that come now
	resuming         bool                 // from the subscribe to resumed
	newest           map[string]int64     // the number of each symbol's newest trade in the epoch
	arrivals         map[string]time.Time // of each symbol's newest price
}

// Place returns where to resume, for Since of a later run; empty if nothing is known.
func (c *Client) Place() string {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.place()
}

func (c *Client) place() string {
	return either(c.epoch == 0, c.Since, fmt.Sprintf("%d:%d", c.epoch, c.seq))
}

// Age returns the time since a symbol's newest price arrived at the relay, by monotonic clocks; false if unknown.
func (c *Client) Age(symbol string) (time.Duration, bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	arrival, isKnown := c.arrivals[symbol]
	return time.Since(arrival), isKnown
}

// Subscribe follows more symbols. It returns an error if the relay does not allow so many, and leaves out the last.
func (c *Client) Subscribe(symbols ...string) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if present := len(c.Symbols); c.Symbols != nil {
		c.Symbols = append(c.Symbols[:present:present], without(symbols, c.Symbols)...)
		return c.subscribe(present, "")
	}
	return nil
}

// Unsubscribe stops following symbols, and forgets them.
func (c *Client) Unsubscribe(symbols ...string) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	left := without(c.Symbols, symbols)
	gone := without(c.Symbols, left)
	for _, symbol := range gone {
		delete(c.newest, symbol)
		delete(c.arrivals, symbol)
	}
	if c.Symbols = left; c.conn != nil && len(gone) > 0 {
		c.send(c.conn, UnsubscribeRequest{Type: "unsubscribe", Symbols: gone})
	}
}

// subscribe asks for the symbols from that number on, as many as the relay allows.
func (c *Client) subscribe(from int, since string) (err error) {
	to, limit := len(c.Symbols), int(c.hello.Limits.Symbols)
	if limit > 0 && to > limit {
		to, err = limit, fmt.Errorf("the relay allows %d symbols; left out: %v", limit, c.Symbols[limit:])
	}
	if c.conn == nil || c.Symbols != nil && to <= from {
		return err
	}
	request := SubscribeRequest{Type: "subscribe", Symbols: c.Symbols[from:to], Delivery: c.Delivery, Every: c.Every}
	request.Since = since
	c.send(c.conn, request)
	if c.Bars != "" {
		c.send(c.conn, SubscribeRequest{Type: "subscribe", Symbols: request.Symbols, Bars: c.Bars})
	}
	return err
}

// send writes a request. Once this fails, so does the reading, and the next connection subscribes.
func (c *Client) send(conn *websocket.Conn, request interface{}) {
	c.writing.Lock()
	defer c.writing.Unlock()
	conn.SetWriteDeadline(time.Now().Add(10 * time.Second))
	conn.WriteJSON(request)
}

// Run connects, and reports each event, in order. While report works, nothing is read from the relay, which reports
// what it then leaves out. Run ends with the context, or with an error that waiting does not cure.
func (c *Client) Run(ctx context.Context, report func(Event)) error {
	c.mutex.Lock()
	c.newest, c.arrivals = map[string]int64{}, map[string]time.Time{}
	c.Delivery = either(c.Delivery == "", "latest", c.Delivery)
	c.MinBackoff = either(c.MinBackoff == 0, 250*time.Millisecond, c.MinBackoff)
	c.MaxBackoff = either(c.MaxBackoff == 0, 30*time.Second, c.MaxBackoff)
	c.Silence = either(c.Silence == 0, 30*time.Second, c.Silence)
	_, err := fmt.Sscanf(c.place(), "%d:%d", &c.epoch, &c.seq)
	c.mutex.Unlock()
	isURL := strings.HasPrefix(c.URL, "ws://") || strings.HasPrefix(c.URL, "wss://")
	if !isURL || err != nil && c.Since != "" {
		return fmt.Errorf("a wrong URL or Since: %q, %q", c.URL, c.Since)
	}
	random, ceiling := rand.New(rand.NewSource(time.Now().UnixNano())), c.MinBackoff
	for attempt := 1; ; attempt++ {
		began := time.Now()
		end, wait := c.connect(ctx, attempt, report)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		stayed := time.Since(c.helloAt)
		isStable := c.helloAt.After(began) && (stayed >= c.MaxBackoff || stayed >= 10*time.Second)
		ceiling = either(isStable, c.MinBackoff, ceiling)
		var lost Missed
		if _, err := fmt.Sscanf(end.Reason, "too slow: %d trades", &lost.Trades); err == nil && end.Code == 1013 {
			report(lost)
		}
		if report(end); !end.Retry {
			return fmt.Errorf("%s%s", either(end.Code == 0, "", fmt.Sprint(end.Code, " ")), end.Reason)
		}
		jitter := time.Duration(random.Int63n(int64(ceiling)))
		ceiling = either(2*ceiling < c.MaxBackoff, 2*ceiling, c.MaxBackoff)
		pause, stop := context.WithTimeout(ctx, either(jitter > wait, jitter, wait))
		<-pause.Done()
		stop()
	}
}

// connect opens a connection and reads it to its end. It also returns how long the relay asks to wait.
func (c *Client) connect(ctx context.Context, attempt int, report func(Event)) (Disconnected, time.Duration) {
	bearer := http.Header{"Authorization": {"Bearer " + c.Token}}
	dialer := websocket.Dialer{HandshakeTimeout: 2 * c.Silence, Proxy: http.ProxyFromEnvironment}
	conn, response, err := dialer.DialContext(ctx, c.URL, either(c.Token == "", nil, bearer))
	if err != nil && response != nil {
		wait, _ := time.ParseDuration(response.Header.Get("Retry-After") + "s")
		wait = either(wait > c.MaxBackoff, c.MaxBackoff, wait)
		return Disconnected{0, "HTTP " + response.Status, !final[response.StatusCode]}, wait
	} else if err != nil {
		return Disconnected{0, err.Error(), true}, 0
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer conn.Close()
	leave := func(code int) {
		conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, ""), time.Now().Add(time.Second))
	}
	go func() {
		<-ctx.Done()
		leave(websocket.CloseNormalClosure)
		time.AfterFunc(time.Second, func() { conn.Close() }) // if the relay does not answer
	}()
	ping := time.AfterFunc(time.Hour, func() { c.send(conn, PingRequest{"ping", []byte("1")}) })
	conn.SetReadLimit(1 << 20)
	report(Connected{attempt})
	for {
		ping.Reset(c.Silence)
		conn.SetReadDeadline(time.Now().Add(2 * c.Silence))
		kind, text, err := conn.ReadMessage()
		ping.Stop() // While events wait to be read, nothing can come.
		switch closed, _ := err.(*websocket.CloseError); {
		case closed != nil && closed.Code != websocket.CloseAbnormalClosure:
			return Disconnected{closed.Code, closed.Text, !final[closed.Code]}, 0
		case err != nil:
			return Disconnected{0, err.Error(), true}, 0
		case kind != websocket.TextMessage:
			report(ProtocolError{"a binary message"})
		case !utf8.Valid(text):
			leave(websocket.CloseInvalidFramePayloadData)
			return Disconnected{0, "a text that is not UTF-8", true}, 0
		case ctx.Err() == nil:
			for _, event := range c.received(conn, text) {
				report(event)
			}
		}
	}
}

// received returns the events of a message.
func (c *Client) received(conn *websocket.Conn, text []byte) (events []Event) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	message, kind, err := decode(text)
	now, isMisplaced := time.Now(), message != nil && (kind == "hello") == (c.conn == conn)
	if isMisplaced || err != nil {
		return []Event{ProtocolError{either(isMisplaced, kind+" at a wrong time", fmt.Sprint(err))}}
	}
	switch m := message.(type) {
	case nil, SubscribedMessage, PongMessage:
		return nil
	case HelloMessage:
		since := c.place()
		c.conn, c.hello, c.helloAt, c.live = conn, m, now, valueOf(m.Epoch)
		c.resuming = since != "" && (c.Symbols == nil || len(c.Symbols) > 0)
		if since == "" {
			c.reach(c.live, valueOf(m.Seq), 0)
		}
		if c.Overflow != "" {
			c.send(conn, OverflowRequest{"overflow", c.Overflow})
		}
		if err := c.subscribe(0, since); err != nil {
			return []Event{m, ErrorMessage{Type: "error", Code: "too-many-symbols", Msg: err.Error()}}
		}
	case TradeMessage: // While an earlier run is resumed, its trades have numbers beyond the place.
		epoch := either(c.resuming && m.Seq > c.seq, c.epoch, c.live)
		if newest, isKnown := c.newest[m.Symbol]; isKnown && epoch == c.epoch && m.Seq <= newest {
			return either(c.resuming, nil, []Event{ProtocolError{fmt.Sprintf("trade %d of %s comes again", m.Seq, m.Symbol)}})
		}
		events, message = c.reach(epoch, m.Seq, m.Seq), Trade{m, epoch}
		old := c.helloAt.Add(time.Duration(m.Received-c.hello.Time*1000) * time.Microsecond) // by the relay's clock
		if c.newest[m.Symbol] = m.Seq; !m.Filled {
			c.arrivals[m.Symbol] = either(c.resuming && m.Received < c.hello.Time*1000, old, now) // a filled trade is no price
		}
	case TradesMessage:
		c.arrivals[m.Symbol], events = now, c.reach(c.live, m.Seq, m.Seq)
	case SnapshotMessage: // Prices are always of the present run.
		age := time.Duration(valueOf(m.Age)) * time.Millisecond
		c.arrivals[m.Symbol], events, message = now.Add(-age), c.reach(c.live, m.Seq, m.Seq), Price{m}
	case GapMessage:
		if m.Symbol == nil && m.Epoch != 0 && m.Epoch != c.epoch {
			c.live = either(c.resuming && m.Epoch < c.live, c.live, m.Epoch)
			c.reach(m.Epoch, either(m.NextSeq > 0, m.NextSeq-1, 0), 0) // The gap is there, so none has to be made.
		}
	case ResumedMessage:
		events, c.live, c.resuming = c.reach(m.Epoch, m.To, m.To+1), m.Epoch, false
	}
	return append(events, message)
}

// reach moves the place forward. It returns a gap if that is in another epoch, which begins with the number next.
func (c *Client) reach(epoch, seq, next int64) (events []Event) {
	if epoch == c.epoch && seq > c.seq {
		c.seq = seq
	} else if epoch != c.epoch && epoch != 0 {
		gap, cause := GapMessage{Type: "gap", Reason: "the relay was restarted", NextSeq: next, Epoch: epoch}, "epoch"
		gap.To, gap.Cause = c.hello.Time, &cause
		events = either(c.epoch == 0, nil, []Event{gap})
		c.epoch, c.seq, c.newest = epoch, seq, map[string]int64{} // Numbers begin anew.
	}
	return events
}

// without returns the symbols that are not among the others, each once.
func without(symbols, others []string) []string {
	left, seen := symbols[:0:0], map[string]bool{}
	for at, symbol := range append(others[:len(others):len(others)], symbols...) {
		if at >= len(others) && !seen[symbol] {
			left = append(left, symbol)
		}
		seen[symbol] = true
	}
	return left
}

// either returns one value if the condition holds, and otherwise the other.
func either[T any](condition bool, one, other T) T {
	if condition {
		return one
	}
	return other
}
