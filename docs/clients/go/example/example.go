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
	client, err := tickertape.New(os.Args[1], tickertape.Options{Symbols: os.Args[2:]})
	if err != nil {
		log.Fatal(err)
	}
	for event := range client.Events(context.Background()) {
		switch event := event.(type) {
		case tickertape.Price:
			fmt.Println(event.Symbol, event.Price)
		case tickertape.GapMessage:
			fmt.Println("gap:", event.Reason)
		}
	}
}
