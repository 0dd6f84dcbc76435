package tickertape

import (
	"encoding/json"
	"errors"
	"math/big"
	"reflect"
	"regexp"
	"strings"
)

// Event is one of the types below, or a HelloMessage, TradesMessage (activity without a new price), GapMessage,
// SkippedMessage, ResumedMessage, StatusMessage, SymbolMessage, BarMessage, ReplayMessage or ErrorMessage.
type Event interface{}

type (
	Connected     struct{ Attempt int }     // The WebSocket is open.
	Price         struct{ SnapshotMessage } // Its Type is snapshot or price; only a snapshot has an Age.
	ProtocolError struct{ Message string }  // A message cannot be understood; the connection goes on.
	Missed        struct{ Trades int64 }    // This client was too slow and is closed; the resume brings them.
	Failed        struct{ Message string }  // Waiting does not help; the client has ended.
	Disconnected  struct {
		Code   int // of the relay's close frame; 0 without one
		Reason string
		Retry  bool
	}
	Trade struct {
		TradeMessage
		Epoch int64 // names the trade, with Seq; Unknown before the relay's first epoch
	}
)

// Unknown is an epoch that the relay has not named.
const Unknown = -1

// The messages, with the members that must be there and right; ? may be null, = is a decimal.
var kinds = map[string]struct {
	message interface{}
	needs   string
}{
	"hello": {HelloMessage{}, "epoch? seq?"}, "snapshot": {SnapshotMessage{}, "symbol price= size= seq received"},
	"price": {SnapshotMessage{}, "symbol price= size= seq received"}, "trades": {TradesMessage{}, "symbol seq trades"},
	"trade": {TradeMessage{}, "symbol seq price= size= time received"}, "gap": {GapMessage{}, "to nextSeq epoch"},
	"resumed": {ResumedMessage{}, "epoch from to trades complete"}, "skipped": {SkippedMessage{}, "trades from to"},
	"status": {StatusMessage{}, "state"}, "symbol": {SymbolMessage{}, "symbol state"}, "error": {ErrorMessage{}, "msg"},
	"bar":    {BarMessage{}, "symbol width start open= high= low= close= trades closed incomplete"},
	"replay": {ReplayMessage{}, "at paused"}, "subscribed": {SubscribedMessage{}, ""}, "pong": {PongMessage{}, ""},
}

var decimal = regexp.MustCompile(`^"-?[0-9]+([.][0-9]+)?"$`)

// Rat returns an exact decimal as a number; nil if the text is none.
func Rat(decimal string) *big.Rat {
	number, _ := new(big.Rat).SetString(decimal)
	return number
}

// decode returns a message as its type, and the name of that; nil for a type that is not known. Each member by itself,
// because encoding/json takes a member Price for price, and fails for any wrong member, needed or not.
func decode(text []byte) (message interface{}, name string, err error) {
	var raw map[string]json.RawMessage
	var typeName *string
	if json.Unmarshal(text, &raw) != nil || json.Unmarshal(raw["type"], &typeName) != nil || typeName == nil {
		return nil, "", errors.New("not an object of JSON with a type")
	}
	kind, isKnown := kinds[*typeName]
	if !isKnown {
		return nil, *typeName, nil
	}
	isRight := map[string]bool{}
	made := reflect.New(reflect.TypeOf(kind.message)).Elem()
	for i := 0; i < made.NumField(); i++ {
		member, _, _ := strings.Cut(made.Type().Field(i).Tag.Get("json"), ",")
		isRight[member] = json.Unmarshal(raw[member], made.Field(i).Addr().Interface()) == nil
		if !isRight[member] && made.Field(i).Kind() == reflect.Ptr {
			made.Field(i).Set(reflect.Zero(made.Field(i).Type()))
		}
	}
	for _, need := range strings.Fields(kind.needs) {
		member := strings.TrimRight(need, "?=")
		if value := string(raw[member]); value == "null" {
			isRight[member] = strings.Contains(need, "?")
		} else if strings.HasSuffix(need, "=") && !decimal.MatchString(value) {
			isRight[member] = false
		}
		if !isRight[member] {
			return nil, *typeName, errors.New(*typeName + " with a wrong " + member)
		}
	}
	return made.Interface(), *typeName, nil
}
