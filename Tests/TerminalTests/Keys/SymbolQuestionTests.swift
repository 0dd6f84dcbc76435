import Market
import Testing
import TickertapeTesting
@testable import Terminal

@Suite("The conversation about the symbols of the screen")
struct SymbolQuestionTests {
    @Test("A symbol is added by its whole name; the line stays open with the problem until it is done")
    func adds() {
        var person = PersonAtScreen(remote: .sample { $0.search = .cannot("no list here") })
        #expect(person.presses("+") == [])
        #expect(person.prompt?.title == "add a symbol" && person.prompt?.message == "no list here")
        // In a prompt, letters are not commands.
        #expect(person.types("X:q") == [])
        #expect(person.prompt?.text == "X:q" && person.prompt?.caret == 3)
        #expect(person.presses(.named(.enter)) == [.subscribe("X:q")])
        // A repeating Enter key submits once.
        #expect(person.presses(.named(.enter)) == [])
        person.receives(.subscribed("X:q", problem: "all 50 places are taken"))
        #expect(person.prompt?.message == "all 50 places are taken" && person.prompt?.text == "X:q")
        #expect(person.presses(.named(.enter)) == [.subscribe("X:q")])
        person.receives(.subscribed("X:q", problem: nil))
        #expect(person.choice.pane == nil && person.choice.selected == "X:q")
    }

    @Test("A closed prompt stays closed; a notice shows its problem, and its success selects")
    func answersLate() {
        var person = PersonAtScreen(remote: .sample { $0.search = .cannot("no list here") })
        person.presses("+")
        person.types("X:D")
        person.presses(.named(.enter), .named(.escape))
        person.receives(.subscribed("X:D", problem: "no place"))
        #expect(person.choice.pane == nil && person.said == "no place")
        // The next key removes the message.
        person.presses("j")
        #expect(person.said == nil)
        // The answer for the previous prompt does not close a new one.
        person.presses("+")
        person.types("X:E")
        person.receives(.subscribed("X:D", problem: nil))
        #expect(person.prompt?.text == "X:E" && person.choice.selected == "X:D")
    }

    @Test("An existing symbol is selected, an empty line does nothing, and blanks around a name are trimmed")
    func addsNothing() {
        var person = PersonAtScreen(remote: .sample { $0.search = .cannot("no list here") })
        person.presses("+")
        person.types("  X:C ")
        #expect(person.presses(.named(.enter)) == [])
        #expect(person.choice.selected == "X:C" && person.said == "X:C is on the screen already")
        person.presses("+", " ")
        #expect(person.presses(.named(.enter)) == [] && person.choice.pane == nil)
    }

    @Test("Suggestions come while typing; the answer to an older search does not replace that to a newer one")
    func searches() throws {
        var person = PersonAtScreen(remote: .sample())
        let fits = [
            DisplayPrompt.Suggestion(text: "BINANCE:BTCUSDT", note: "Bitcoin"), .init(text: "KRAKEN:XBT", note: ""),
        ]
        person.presses("+")
        #expect(person.types("b") == [.search("b", number: 1)])
        // Only one search runs at a time; the text typed meanwhile waits for its answer.
        #expect(person.types("it") == [])
        #expect(person.receives(.found([], number: 1, problem: nil)) == [.search("bit", number: 2)])
        #expect(person.receives(.found([fits[1]], number: 1, problem: nil)) == [])
        #expect(person.prompt?.suggestions == [])
        #expect(person.receives(.found(fits, number: 2, problem: nil)) == [])
        #expect(person.prompt?.suggestions == fits && person.prompt?.chosen == 0)
        person.presses(.named(.down), .named(.down))
        #expect(person.prompt?.chosen == 1)
        person.presses(.named(.up), .named(.up))
        #expect(person.prompt?.chosen == 0)
        #expect(person.presses(.named(.enter)) == [.subscribe("BINANCE:BTCUSDT")])
    }

    @Test("A search that answers late does not take away why a symbol cannot be had")
    func refusedBeforeFound() {
        var person = PersonAtScreen(remote: .sample())
        person.presses("+")
        #expect(person.types("X") == [.search("X", number: 1)])
        #expect(person.presses(.named(.enter)) == [.subscribe("X")])
        person.receives(.subscribed("X", problem: "the recording has no X"))
        person.receives(.found([], number: 1, problem: "nothing fits"))
        #expect(person.prompt?.message == "the recording has no X")
        person.types("Y")
        person.receives(.found([], number: 2, problem: "nothing fits"))
        #expect(person.prompt?.message == "nothing fits")
    }

    @Test("A search that never answers is given up, and its late answer is not heard")
    func searchHangs() {
        var person = PersonAtScreen(remote: .sample())
        person.presses("+")
        #expect(person.types("a") == [.search("a", number: 1)])
        person.now.monotonic += 6 * oneSecond
        #expect(person.types("b") == [.search("ab", number: 2)])
        #expect(person.receives(.found([.init(text: "OLD", note: "")], number: 1, problem: nil)) == [])
        #expect(person.prompt?.suggestions == [])
    }

    @Test("Tab completes, a whole name is submitted as typed, and a problem of the search is shown with a hint")
    func completes() {
        var person = PersonAtScreen(remote: .sample())
        person.presses("+")
        person.types("e")
        person.receives(.found([.init(text: "X:ETH", note: "Ether")], number: 1, problem: nil))
        #expect(person.presses(.named(.tab)) == [.search("X:ETH", number: 2)])
        #expect(person.prompt?.text == "X:ETH")
        person.receives(.found([.init(text: "X:ETHW", note: "")], number: 2, problem: nil))
        #expect(person.prompt?.chosen == nil)
        #expect(person.presses(.named(.enter)) == [.subscribe("X:ETH")])
        person.receives(.subscribed("X:ETH", problem: nil))
        person.presses("+")
        person.types("z")
        person.receives(.found([], number: 3, problem: "no key: set FINNHUB_TOKEN"))
        #expect(person.prompt?.message == "no key: set FINNHUB_TOKEN")
        // A name in another case selects the suggestion.
        person.presses(.named(.escape), "+")
        person.types("x:y")
        person.receives(.found([.init(text: "X:Y", note: "")], number: 4, problem: nil))
        #expect(person.presses(.named(.enter)) == [.subscribe("X:Y")])
    }

    @Test("A line takes pasted text, 128 characters at most, and is edited as in a shell")
    func edits() {
        var person = PersonAtScreen(remote: .sample { $0.search = .cannot("no list") })
        // Outside a prompt, pasted text is ignored.
        #expect(person.controller.took(.pasted("q"), state: person.state, now: person.now) == [])
        #expect(person.choice.pane == nil)
        person.presses("+")
        _ = person.controller.took(.pasted("BINANCE:BTCUSDT q"), state: person.state, now: person.now)
        #expect(person.prompt?.text == "BINANCE:BTCUSDT q")
        person.presses(.control("w"), .named(.backspace), .named(.home), .named(.delete), .named(.right), "x")
        #expect(person.prompt?.text == "IxNANCE:BTCUSDT" && person.prompt?.caret == 2)
        person.presses(.named(.left), .control("k"), .named(.end), "é")
        #expect(person.prompt?.text == "Ié" && person.prompt?.caret == 2)
        // A combining mark joins the preceding character, and both are deleted together.
        person.presses("e")
        person.types("\u{301}")
        #expect(person.prompt?.text == "Iée\u{301}" && person.prompt?.caret == 3)
        person.presses(.named(.backspace))
        #expect(person.prompt?.text == "Ié")
        person.presses(.control("u"))
        #expect(person.prompt?.text == "" && person.prompt?.caret == 0)
        let flood = String(repeating: "a", count: 4_000)
        _ = person.controller.took(.pasted(flood), state: person.state, now: person.now)
        _ = person.controller.took(.pasted(flood), state: person.state, now: person.now)
        #expect(person.prompt?.text.count == 128 && person.prompt?.caret == 128)
        person.presses(.control("u"))
        let marks = "a" + String(repeating: "\u{301}", count: 4_000)
        _ = person.controller.took(.pasted(marks), state: person.state, now: person.now)
        #expect((person.prompt?.text.utf8.count ?? 0) <= ScreenController.longestLineBytes)
    }

    @Test("Whatever is typed and pasted, the caret stays within the line")
    func caret() {
        var numbers = SeededGenerator(seed: 9)
        let keys: [TerminalKey] =
            ["a", " ", "é", "\u{301}", "🇩", "🇪", "\u{200D}", "👩", .named(.left), .named(.right), .named(.home)]
            + [
                .named(.end), .named(.backspace), .named(.delete), .control("w"), .control("k"), .control("u"),
                .named(.tab),
            ]
        for _ in 0..<300 {
            var person = PersonAtScreen(remote: .sample { $0.search = .cannot("no list") })
            person.presses("+")
            for _ in 0..<40 {
                person.presses(keys.randomElement(using: &numbers) ?? "a")
                guard let prompt = person.prompt else { continue }
                #expect((0...prompt.text.count).contains(prompt.caret), "\(prompt.text.debugDescription)")
            }
        }
    }

    @Test("The selected symbol is removed, the one below takes its place, and the last one stays")
    func removes() {
        var person = PersonAtScreen()
        person.presses("j")
        #expect(person.presses("-") == [.unsubscribe("X:B")])
        #expect(person.choice.selected == "X:C")
        person.receives(.unsubscribed("X:B", problem: nil))
        #expect(person.said == "X:B is removed; + adds it again")
        person.state.rows.remove(at: 1)
        #expect(person.presses(.named(.delete)) == [.unsubscribe("X:C")])
        #expect(person.choice.selected == "X:A")
        person.state.rows.remove(at: 1)
        #expect(person.presses("-") == [])
        #expect(person.said == "the last symbol stays: add another one first")
    }
}
