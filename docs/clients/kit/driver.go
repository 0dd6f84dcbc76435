// Runs the Go client for kit.py: prints its events, one JSON object a line, until standard input ends.
// usage: driver URL OPTIONS_JSON; build makes it.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"tickertape"
)

var mutex sync.Mutex

type object map[string]interface{}

func show(event object) {
	line, _ := json.Marshal(event)
	mutex.Lock()
	defer mutex.Unlock()
	os.Stdout.Write(append(line, '\n'))
}

// text is null instead of an empty text.
func text(value string) interface{} {
	if value == "" {
		return nil
	}
	return value
}

// number is null instead of 0: an unknown epoch, or no close code.
func number(value int64) interface{} {
	if value == 0 {
		return nil
	}
	return value
}

func lineOf(event tickertape.Event) object {
	switch e := event.(type) {
	case tickertape.Connected:
		return object{"event": "connected", "attempt": e.Attempt}
	case tickertape.HelloMessage:
		return object{"event": "hello", "epoch": e.Epoch, "seq": e.Seq, "state": text(e.Status.State)}
	case tickertape.Price:
		return object{"event": "price", "symbol": e.Symbol, "price": e.Price, "size": e.Size, "seq": e.Seq,
			"skipped": e.Skipped, "snapshot": e.Type == "snapshot", "received": e.Received, "age": e.Age}
	case tickertape.Trade:
		return object{"event": "trade", "symbol": e.Symbol, "seq": e.Seq, "epoch": number(e.Epoch),
			"price": e.Price, "size": e.Size, "time": e.Time, "received": e.Received, "id": e.Id, "ahead": e.Ahead,
			"possibleRepeat": e.PossibleRepeat, "filled": e.Filled}
	case tickertape.TradesMessage:
		return object{"event": "activity", "symbol": e.Symbol, "seq": e.Seq, "trades": e.Trades}
	case tickertape.GapMessage:
		return object{"event": "gap", "from": e.From, "to": e.To, "reason": text(e.Reason), "cause": e.Cause,
			"symbol": e.Symbol, "nextSeq": e.NextSeq, "epoch": e.Epoch, "missing": e.Missing}
	case tickertape.SettledMessage:
		return object{"event": "settled", "symbol": e.Symbol, "from": e.From, "to": e.To, "missing": e.Missing,
			"lost": e.Lost, "reason": e.Reason}
	case tickertape.VenueDayMessage:
		return object{"event": "venueDay", "symbol": e.Symbol, "open": e.Open, "high": e.High, "low": e.Low,
			"last": e.Last, "change": e.Change, "volume": e.Volume, "received": e.Received}
	case tickertape.SkippedMessage:
		return object{"event": "skipped", "trades": e.Trades, "from": e.From, "to": e.To}
	case tickertape.ResumedMessage:
		return object{"event": "resumed", "epoch": e.Epoch, "from": e.From, "to": e.To, "trades": e.Trades,
			"complete": e.Complete}
	case tickertape.StatusMessage:
		return object{"event": "status", "state": e.State, "reason": e.Reason, "cause": e.Cause}
	case tickertape.SymbolMessage:
		return object{"event": "symbol", "symbol": e.Symbol, "state": e.State, "reason": e.Reason}
	case tickertape.BarMessage:
		return object{"event": "bar", "symbol": e.Symbol, "width": e.Width, "start": e.Start, "open": e.Open,
			"high": e.High, "low": e.Low, "close": e.Close, "volume": e.Volume, "vwap": e.Vwap,
			"trades": e.Trades, "closed": e.Closed, "incomplete": e.Incomplete}
	case tickertape.ReplayMessage:
		return object{"event": "replay", "at": e.At, "paused": e.Paused}
	case tickertape.ErrorMessage:
		return object{"event": "error", "code": text(e.Code), "message": e.Msg}
	case tickertape.ProtocolError:
		return object{"event": "protocol-error", "message": e.Message}
	case tickertape.Missed:
		return object{"event": "missed", "trades": e.Trades}
	case tickertape.Disconnected:
		return object{"event": "disconnected", "code": number(int64(e.Code)), "reason": e.Reason, "retry": e.Retry}
	}
	panic(fmt.Sprintf("an event of an unknown type: %T", event))
}

func obey(client *tickertape.Client, line []byte) {
	var what struct {
		Do, Symbol string
		Symbols    []string
	}
	json.Unmarshal(line, &what)
	switch what.Do {
	case "age":
		var milliseconds interface{}
		if age, known := client.Age(what.Symbol); known {
			milliseconds = age.Milliseconds()
		}
		show(object{"event": "age", "symbol": what.Symbol, "ms": milliseconds})
	case "subscribe":
		if err := client.Subscribe(what.Symbols...); err != nil {
			show(object{"event": "error", "code": "too-many-symbols", "message": err.Error()})
		}
	case "unsubscribe":
		client.Unsubscribe(what.Symbols...)
	}
}

func main() {
	var options struct {
		Symbols                                       []string
		Delivery, Every, Since, Overflow, Bars, Token string
		Backoff                                       struct{ FirstMs, MaxMs int64 }
		SilenceMs                                     int64
	}
	if err := json.Unmarshal([]byte(os.Args[2]), &options); err != nil {
		panic(err)
	}
	client := &tickertape.Client{
		URL: os.Args[1], Symbols: options.Symbols, Delivery: options.Delivery, Every: options.Every,
		Since: options.Since, Bars: options.Bars, Overflow: options.Overflow, Token: options.Token,
		MinBackoff: time.Duration(options.Backoff.FirstMs) * time.Millisecond,
		MaxBackoff: time.Duration(options.Backoff.MaxMs) * time.Millisecond,
		Silence:    time.Duration(options.SilenceMs) * time.Millisecond,
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	go func() {
		defer stop()
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			obey(client, lines.Bytes())
		}
	}()
	err := client.Run(ctx, func(event tickertape.Event) { show(lineOf(event)) })
	if ctx.Err() == nil {
		show(object{"event": "failed", "message": err.Error()})
		os.Exit(3)
	}
}
