package tickertape

import (
	"errors"
	"fmt"
	"time"

	"github.com/gorilla/websocket"
)

// What the messages say about the place where to resume, and which events they become.

// received returns the events of a message.
func (c *Client) received(conn *websocket.Conn, text []byte) (events []Event) {
	message, kind, err := decode(text)
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if err == nil && message != nil && (kind == "hello") == (c.conn != nil) {
		err = errors.New(kind + " at a wrong time")
	}
	if err != nil {
		return []Event{ProtocolError{err.Error()}}
	}
	switch m := message.(type) {
	case nil, SubscribedMessage, PongMessage:
		return nil
	case HelloMessage:
		return c.greeted(conn, m)
	case TradeMessage:
		return c.traded(m)
	case TradesMessage:
		events = c.reach(c.live, m.Seq, m.Seq)
		c.arrivals[m.Symbol] = time.Now()
	case SnapshotMessage: // Prices are always of the present run.
		events, message = c.reach(c.live, m.Seq, m.Seq), Price{m}
		c.arrivals[m.Symbol] = time.Now()
		if m.Age != nil {
			c.arrivals[m.Symbol] = time.Now().Add(-time.Duration(*m.Age) * time.Millisecond)
		} else if kind == "snapshot" {
			delete(c.arrivals, m.Symbol)
		}
	case GapMessage:
		if m.Symbol != nil || m.Epoch == c.epoch {
			break
		} else if !c.resuming || m.Epoch > c.live {
			c.live = m.Epoch
		}
		if c.reach(m.Epoch, m.NextSeq-1, 0); c.seq < 0 { // The gap is there, so none has to be made.
			c.seq = 0
		}
	case ResumedMessage:
		events = c.reach(m.Epoch, m.To, m.To+1)
		c.live, c.resuming = m.Epoch, false
	}
	return append(events, message)
}

func (c *Client) greeted(conn *websocket.Conn, m HelloMessage) []Event {
	c.conn, c.hello, c.helloAt, c.live = conn, m, time.Now(), Unknown
	if m.Epoch != nil {
		c.live = *m.Epoch
	}
	var since *string
	if c.resuming = c.epoch != Unknown; c.resuming {
		place := fmt.Sprintf("%d:%d", c.epoch, c.seq)
		since = &place
	} else if c.reach(c.live, 0, 0); m.Seq != nil {
		c.seq = *m.Seq
	}
	events, symbols := []Event{m}, c.symbols
	if limit := int(m.Limits.Symbols); limit > 0 && len(symbols) > limit {
		text := fmt.Sprintf("the relay allows %d symbols; left out: %v", limit, symbols[limit:])
		events = append(events, ErrorMessage{Type: "error", Code: "too-many-symbols", Msg: text})
		symbols = symbols[:limit]
	}
	if symbols != nil && len(symbols) == 0 {
		c.resuming = false
		return events
	}
	if c.options.Overflow != "" {
		c.send(conn, OverflowRequest{"overflow", c.options.Overflow})
	}
	c.subscribe(symbols, since)
	return events
}

func (c *Client) traded(m TradeMessage) []Event {
	epoch := c.live
	if c.resuming && m.Seq > c.seq {
		epoch = c.epoch // While an earlier run is resumed, its trades have numbers beyond the place.
	}
	if newest, isKnown := c.newest[m.Symbol]; isKnown && epoch == c.epoch && m.Seq <= newest {
		if c.resuming {
			return nil // The resume brings it again.
		}
		return []Event{ProtocolError{fmt.Sprintf("trade %d of %s comes again", m.Seq, m.Symbol)}}
	}
	events := c.reach(epoch, m.Seq, m.Seq)
	c.newest[m.Symbol], c.arrivals[m.Symbol] = m.Seq, time.Now()
	if age := c.hello.Time*1000 - m.Received; c.resuming && age > 0 { // by the relay's own clock
		c.arrivals[m.Symbol] = c.helloAt.Add(-time.Duration(age) * time.Microsecond)
	}
	return append(events, Trade{m, epoch})
}

// reach moves the place forward. It returns a gap if that is in another epoch, which begins with the number next.
func (c *Client) reach(epoch, seq, next int64) []Event {
	known := c.epoch
	if epoch == Unknown || epoch == known && seq <= c.seq {
		return nil
	}
	c.epoch, c.seq = epoch, seq
	if epoch == known {
		return nil
	}
	c.newest = map[string]int64{} // Numbers begin anew.
	if known == Unknown {
		return nil
	}
	gap, cause := GapMessage{Type: "gap", To: c.hello.Time, NextSeq: next, Epoch: epoch}, "epoch"
	gap.Reason, gap.Cause = "the relay was restarted", &cause
	return []Event{gap}
}
