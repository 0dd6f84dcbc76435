// Package tickertape is a client of /v1/stream that keeps its place: it reconnects, resumes after the last trade, and
// reports what is missing as events. Prices and sizes are exact decimal texts; Rat makes numbers of them.
package tickertape

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/gorilla/websocket"
)

// Options says what a client follows. The zero value follows the prices of everything.
type Options struct {
	Symbols                []string      // nil for everything
	Delivery, Every        string        // latest if empty, all, or every with an interval such as 250ms
	Bars                   string        // also subscribe to bars of this width
	Overflow               string        // what happens when this client is too slow: latest or close
	Since                  string        // EPOCH:SEQ, the Place that an earlier run kept
	Token                  string        // the relay's token
	MinBackoff, MaxBackoff time.Duration // 250 ms and 30 s if 0
	Silence                time.Duration // 30 s if 0: without a message this long it asks, twice it reconnects
}

// Waiting does not cure these: the request, the token or this client is wrong.
var final = map[int]bool{400: true, 401: true, 403: true, 404: true, 421: true, 1002: true, 1003: true, 1007: true,
	1008: true, 1009: true}
var tooSlow = regexp.MustCompile(`^too slow: (\d+) trades missed`)

// Client follows one relay. Its methods may be called from any goroutine.
type Client struct {
	url        string
	options    Options
	mutex      sync.Mutex           // of all below
	conn       *websocket.Conn      // with which the relay has greeted; nil without one
	symbols    []string             // nil for everything
	hello      HelloMessage         // the newest
	helloAt    time.Time            // its arrival
	epoch, seq int64                // where to resume
	live       int64                // the epoch of the trades that come now
	resuming   bool                 // from the subscribe to resumed
	newest     map[string]int64     // the number of each symbol's newest trade in the epoch
	arrivals   map[string]time.Time // of each symbol's newest price
}

// New makes a client of a URL such as ws://127.0.0.1:8080/v1/stream.
func New(url string, options Options) (c *Client, err error) {
	c = &Client{url: url, options: options, epoch: Unknown, live: Unknown}
	c.symbols = options.Symbols[:len(options.Symbols):len(options.Symbols)] // What is appended stays ours.
	c.newest, c.arrivals = map[string]int64{}, map[string]time.Time{}
	for value, usual := range map[*time.Duration]time.Duration{&c.options.MinBackoff: 250 * time.Millisecond,
		&c.options.MaxBackoff: 30 * time.Second, &c.options.Silence: 30 * time.Second} {
		if *value == 0 {
			*value = usual
		}
	}
	if options.Delivery == "" {
		c.options.Delivery = "latest"
	}
	if !strings.HasPrefix(url, "ws://") && !strings.HasPrefix(url, "wss://") {
		return nil, fmt.Errorf("%s is no URL of a WebSocket", url)
	}
	if options.Since != "" {
		_, err = fmt.Sscanf(options.Since, "%d:%d", &c.epoch, &c.seq)
	}
	return c, err
}

// Events connects, and gives each event, in order. The channel is closed after Failed, and when the context ends. While
// the reader is slow, nothing is read from the relay, which reports what it then leaves out.
func (c *Client) Events(ctx context.Context) <-chan Event {
	events := make(chan Event, 64)
	go c.run(ctx, events)
	return events
}

// Place returns where to resume, for Since of a later run; empty if nothing is known.
func (c *Client) Place() string {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.epoch == Unknown {
		return ""
	}
	return fmt.Sprintf("%d:%d", c.epoch, c.seq)
}

// Age returns the time since a symbol's newest price arrived at the relay, by monotonic clocks; false if unknown.
func (c *Client) Age(symbol string) (time.Duration, bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	arrival, isKnown := c.arrivals[symbol]
	return time.Since(arrival), isKnown
}

// Subscribe follows more symbols, as many as the relay allows.
func (c *Client) Subscribe(symbols ...string) error { return c.change(symbols, true) }

// Unsubscribe stops following symbols, and forgets them.
func (c *Client) Unsubscribe(symbols ...string) error { return c.change(symbols, false) }

func (c *Client) change(symbols []string, adds bool) (err error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	changed, limit := []string{}, int(c.hello.Limits.Symbols)
	for _, symbol := range symbols {
		at := 0
		for at < len(c.symbols) && c.symbols[at] != symbol {
			at++
		}
		if isThere := at < len(c.symbols); c.symbols == nil || isThere == adds {
			continue
		} else if adds && limit > 0 && at >= limit {
			err = fmt.Errorf("the relay allows %d symbols", limit)
			continue
		}
		changed = append(changed, symbol)
		if adds {
			c.symbols = append(c.symbols, symbol)
			continue
		}
		c.symbols = append(c.symbols[:at:at], c.symbols[at+1:]...)
		delete(c.newest, symbol)
		delete(c.arrivals, symbol)
	}
	// If sending fails, so does the reading, and the next connection subscribes.
	if c.conn != nil && len(changed) > 0 && adds {
		c.subscribe(changed, nil)
	} else if c.conn != nil && len(changed) > 0 {
		c.send(c.conn, UnsubscribeRequest{Type: "unsubscribe", Symbols: changed})
	}
	return err
}

func (c *Client) run(ctx context.Context, events chan<- Event) {
	defer close(events)
	emit := func(all ...Event) {
		for _, event := range all {
			select {
			case events <- event:
			case <-ctx.Done():
			}
		}
	}
	random := rand.New(rand.NewSource(time.Now().UnixNano()))
	ceiling := c.options.MinBackoff
	for attempt := 1; ; attempt++ {
		end, retryAfter := c.connect(ctx, attempt, emit)
		if ctx.Err() != nil {
			return
		}
		c.mutex.Lock()
		stayed := time.Since(c.helloAt)
		if c.conn != nil && (stayed >= c.options.MaxBackoff || stayed >= 10*time.Second) {
			ceiling = c.options.MinBackoff
		}
		c.conn = nil
		c.mutex.Unlock()
		if missed := tooSlow.FindStringSubmatch(end.Reason); missed != nil && end.Code == websocket.CloseTryAgainLater {
			trades, _ := strconv.ParseInt(missed[1], 10, 64)
			emit(Missed{trades})
		}
		emit(end)
		if !end.Retry {
			emit(Failed{strings.TrimPrefix(fmt.Sprint(end.Code, " ", end.Reason), "0 ")})
			return
		}
		delay := time.Duration(random.Int63n(int64(ceiling))) // full jitter
		if delay < retryAfter {
			delay = retryAfter
		}
		if ceiling *= 2; ceiling > c.options.MaxBackoff {
			ceiling = c.options.MaxBackoff
		}
		select {
		case <-time.After(delay):
		case <-ctx.Done():
			return
		}
	}
}

// connect opens a connection and reads it to its end. It also returns how long the relay asks to wait.
func (c *Client) connect(ctx context.Context, attempt int, emit func(...Event)) (Disconnected, time.Duration) {
	header := http.Header{}
	if c.options.Token != "" {
		header.Set("Authorization", "Bearer "+c.options.Token)
	}
	dialer := websocket.Dialer{HandshakeTimeout: 2 * c.options.Silence, Proxy: http.ProxyFromEnvironment}
	conn, response, err := dialer.DialContext(ctx, c.url, header)
	if err != nil && response != nil {
		wait, _ := time.ParseDuration(response.Header.Get("Retry-After") + "s")
		if wait > c.options.MaxBackoff {
			wait = c.options.MaxBackoff
		}
		return Disconnected{0, "HTTP " + response.Status, !final[response.StatusCode]}, wait
	} else if err != nil {
		return Disconnected{0, err.Error(), true}, 0
	}
	defer conn.Close()
	conn.SetReadLimit(1 << 20)
	emit(Connected{attempt})
	done := make(chan struct{})
	defer close(done)
	go func() {
		select {
		case <-ctx.Done():
			c.close(conn, websocket.CloseNormalClosure)
			conn.SetReadDeadline(time.Now().Add(time.Second)) // until the relay answers
		case <-done:
		}
	}()
	var asked atomic.Int32
	var timer *time.Timer
	timer = time.AfterFunc(time.Hour, func() {
		if asked.Add(1) > 1 {
			conn.Close()
			return
		}
		timer.Reset(c.options.Silence)
		c.mutex.Lock()
		defer c.mutex.Unlock()
		c.send(conn, PingRequest{Type: "ping", Id: json.RawMessage("1")})
	})
	defer timer.Stop()
	for {
		asked.Store(0)
		timer.Reset(c.options.Silence)
		kind, text, err := conn.ReadMessage()
		timer.Stop() // While events wait to be read, nothing can come.
		var closed *websocket.CloseError
		switch {
		case errors.As(err, &closed) && closed.Code != websocket.CloseAbnormalClosure:
			return Disconnected{closed.Code, closed.Text, !final[closed.Code]}, 0
		case err != nil && asked.Load() > 1:
			return Disconnected{0, "nothing came, not even the answer to a ping", true}, 0
		case err != nil:
			return Disconnected{0, err.Error(), true}, 0
		case kind != websocket.TextMessage:
			emit(ProtocolError{"a binary message"})
		case !utf8.Valid(text):
			c.close(conn, websocket.CloseInvalidFramePayloadData)
			return Disconnected{0, "a text that is not UTF-8", true}, 0
		default:
			emit(c.received(conn, text)...)
		}
	}
}

func (c *Client) close(conn *websocket.Conn, code int) {
	conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, ""), time.Now().Add(time.Second))
}

// send writes a request; the mutex is locked.
func (c *Client) send(conn *websocket.Conn, request interface{}) {
	conn.SetWriteDeadline(time.Now().Add(10 * time.Second))
	conn.WriteJSON(request)
}

func (c *Client) subscribe(symbols []string, since *string) {
	request := SubscribeRequest{Type: "subscribe", Symbols: symbols, Delivery: &c.options.Delivery, Since: since}
	if c.options.Every != "" {
		request.Every, _ = json.Marshal(c.options.Every)
	}
	c.send(c.conn, request)
	if c.options.Bars != "" {
		c.send(c.conn, SubscribeRequest{Type: "subscribe", Symbols: symbols, Bars: &c.options.Bars})
	}
}
