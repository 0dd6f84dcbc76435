// The commands of the tool nats (github.com/nats-io/natscli) that the examples of NATS' documentation use, with its
// arguments and its output, on the Go client of NATS' authors: for machines where the tool itself is not to be had.
package main

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/nats-io/nats.go"
)

var (
	words   []string
	headers = nats.Header{}
	flags   = map[string]string{"--server": nats.DefaultURL, "--count": "0", "--queue": ""}
	names   = map[string]string{"-s": "--server", "-f": "--force"}
	alone   = map[string]bool{"--raw": true, "--echo": true, "--force": true}
)

func check(err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: error: %v\n", filepath.Base(os.Args[0]), err)
		os.Exit(1)
	}
}

func read(arguments []string) {
	for ; len(arguments) > 0; arguments = arguments[1:] {
		name := arguments[0]
		if long, isShort := names[name]; isShort {
			name = long
		}
		flag, value, isPair := strings.Cut(name, "=")
		switch {
		case alone[name]:
			flags[name] = "yes"
		case isPair && strings.HasPrefix(flag, "--"):
			flags[flag] = value
		case name == "-H":
			arguments = arguments[1:]
			key, value, _ := strings.Cut(arguments[0], ":")
			headers.Add(key, value)
		case strings.HasPrefix(name, "-"):
			arguments = arguments[1:]
			flags[name] = arguments[0]
		default:
			words = append(words, name)
		}
	}
}

func connect() *nats.Conn {
	var options []nats.Option
	if file, isGiven := flags["--creds"]; isGiven {
		options = append(options, nats.UserCredentials(file))
	}
	if file, isGiven := flags["--nkey"]; isGiven {
		option, err := nats.NkeyOptionFromSeed(file)
		check(err)
		options = append(options, option)
	}
	client, err := nats.Connect(flags["--server"], options...)
	check(err)
	return client
}

// body is the text in which {{Count}} is the number of the message.
func body(text string, number int) []byte {
	made, err := template.New("body").Funcs(template.FuncMap{"Count": func() int { return number }}).Parse(text)
	check(err)
	var out bytes.Buffer
	check(made.Execute(&out, nil))
	return out.Bytes()
}

func message(subject, text string, number int) *nats.Msg {
	return &nats.Msg{Subject: subject, Reply: flags["--reply"], Header: headers, Data: body(text, number)}
}

func show(received *nats.Msg, title string) {
	if flags["--raw"] == "" {
		fmt.Println(title)
		for name, values := range received.Header {
			for _, value := range values {
				fmt.Printf("%s: %s\n", name, value)
			}
		}
		fmt.Println()
	}
	fmt.Printf("%s\n", received.Data)
}

func serve(client *nats.Conn, answer func(number int, received *nats.Msg)) {
	number := 0
	_, err := client.QueueSubscribe(words[1], flags["--queue"], func(received *nats.Msg) {
		number++
		answer(number, received)
	})
	check(err)
	check(client.Flush())
	select {}
}

func keys(client *nats.Conn) {
	stream, err := client.JetStream()
	check(err)
	if words[1] == "add" {
		_, err = stream.CreateKeyValue(&nats.KeyValueConfig{Bucket: words[2]})
		check(err)
		return
	}
	bucket, err := stream.KeyValue(words[2])
	check(err)
	switch words[1] {
	case "put":
		_, err = bucket.Put(words[3], []byte(words[4]))
	case "create":
		_, err = bucket.Create(words[3], []byte(words[4]))
	case "update":
		revision, _ := strconv.ParseUint(words[5], 10, 64)
		_, err = bucket.Update(words[3], []byte(words[4]), revision)
	case "del":
		err = bucket.Delete(words[3])
	case "get":
		entry, failure := bucket.Get(words[3])
		check(failure)
		os.Stdout.Write(entry.Value())
	case "watch":
		watcher, failure := bucket.WatchAll()
		check(failure)
		for entry := range watcher.Updates() {
			if entry != nil && entry.Operation() == nats.KeyValuePut {
				fmt.Printf("PUT %s > %s: %s\n", entry.Bucket(), entry.Key(), entry.Value())
			}
		}
	}
	check(err)
}

func main() {
	read(os.Args[1:])
	client := connect()
	switch words[0] {
	case "pub":
		count, err := strconv.Atoi(flags["--count"])
		check(err)
		for number := 1; number == 1 || number <= count; number++ {
			check(client.PublishMsg(message(words[1], words[2], number)))
		}
		check(client.Flush())
	case "sub":
		serve(client, func(number int, received *nats.Msg) {
			show(received, fmt.Sprintf("[#%d] Received on %q", number, received.Subject))
		})
	case "request":
		answer, err := client.RequestMsg(message(words[1], words[2], 1), 5*time.Second)
		check(err)
		show(answer, "Received")
	case "reply":
		if flags["--queue"] == "" {
			flags["--queue"] = "NATS-RPLY-22"
		}
		serve(client, func(number int, received *nats.Msg) {
			log.Printf("[#%d] Received on subject %q", number, received.Subject)
			reply := &nats.Msg{Subject: received.Reply, Header: headers}
			if flags["--echo"] == "" {
				reply.Data = body(words[2], number)
			} else {
				reply.Header, reply.Data = received.Header, received.Data
			}
			check(client.PublishMsg(reply))
		})
	case "kv":
		keys(client)
	}
}
