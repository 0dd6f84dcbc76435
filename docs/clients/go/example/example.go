// Prints the prices of two symbols, and where trades may be missing.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"tickertape"
)

func main() {
	client := &tickertape.Client{URL: os.Args[1], Symbols: os.Args[2:]}
	log.Fatal(client.Run(context.Background(), func(event tickertape.Event) {
		switch event := event.(type) {
		case tickertape.Price:
			fmt.Println(event.Symbol, event.Price)
		case tickertape.GapMessage:
			fmt.Println("gap:", event.Reason)
		}
	}))
}
