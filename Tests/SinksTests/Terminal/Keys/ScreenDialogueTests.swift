import Market
import Testing

@testable import Sinks

/// A person at a screen with three symbols.
private struct Person {
    var dialogue: ScreenDialogue
    var state: DisplayState
    var now = sampleNoon

    init(
        _ symbols: [String] = ["X:A", "X:B", "X:C"],
        reach: ScreenReach = ScreenReach(replay: "this is not a replay"),
        bindings: KeyBindings = KeyBindings()
    ) {
        self.dialogue = ScreenDialogue(bindings: bindings, reach: reach)
        self.state = DisplayState(rows: symbols.map { sampleRow(sampleSummary($0)) }, status: sampleStatus())
    }

    @discardableResult
    mutating func presses(_ keys: TerminalKey...) -> [ScreenWish] {
        keys.flatMap { self.dialogue.took(.key($0), state: self.state, now: self.now) }
    }

    @discardableResult
    mutating func types(_ text: String) -> [ScreenWish] {
        text.unicodeScalars.flatMap {
            self.dialogue.took(.key(.character(Character($0))), state: self.state, now: self.now)
        }
    }

    @discardableResult
    mutating func hears(_ answer: ScreenAnswer) -> [ScreenWish] {
        self.dialogue.heard(answer, state: self.state, now: self.now)
    }

    var choice: DisplayChoice { self.dialogue.choice }
    var prompt: DisplayPrompt? { if case .prompt(let prompt) = self.choice.pane { prompt } else { nil } }
    /// What the screen says in its line of warnings.
    var said: String? { self.shown.notice?.text }

    /// What is drawn.
    var shown: DisplayState { self.dialogue.shown(self.state, now: self.now.monotonic) }
    /// The picture at a size, with its title.
    func frame(_ columns: Int, _ rows: Int) -> ScreenGrid {
        let size = ScreenGrid.Size(columns: columns, rows: rows)
        return DisplayView.frame(of: self.shown, choice: self.choice, size: size, now: self.now).grid
    }

    /// Lets time pass.
    mutating func waits(_ seconds: Int64) {
        self.now.monotonic += seconds * oneSecond
        self.now.wall += seconds * oneSecond
    }

    static let replaying = ReplayPosition(
        start: sampleNoon.wall - 600 * oneSecond,
        end: sampleNoon.wall + 600 * oneSecond,
        at: sampleNoon.wall,
        speed: 1
    )
}

@Suite("The conversation with the person at the screen")
struct ScreenDialogueTests {
    @Test("The selection goes along the table as it is sorted, stops at its ends, and Enter and Esc open and close")
    func selects() {
        var person = Person()
        person.presses("j")
        #expect(person.choice.selected == "X:B")
        person.presses(.named(.down), .named(.down), "j")
        #expect(person.choice.selected == "X:C")
        person.presses("k", .named(.up), .named(.up))
        #expect(person.choice.selected == "X:A")
        person.presses(.named(.end))
        #expect(person.choice.selected == "X:C")
        person.presses(.named(.enter))
        #expect(person.choice.opened == "X:C")
        // One that is open is turned over like a page.
        person.presses(.named(.up))
        #expect(person.choice.opened == "X:B" && person.choice.selected == "X:B")
        person.presses(.named(.left))
        #expect(person.choice.opened == "X:A")
        person.presses(.named(.escape))
        #expect(person.choice.opened == nil && person.choice.selected == "X:A")
        // Sorted by name the other way round, the next one down is another one.
        person.presses("s", "S", .named(.home))
        #expect(person.choice.order == .symbol && person.choice.isReversed && person.choice.selected == "X:C")
        person.presses("s")
        #expect(person.choice.order == .price && !person.choice.isReversed)
    }

    @Test("Each pane opens and closes with its key and with Esc, one at a time")
    func panes() {
        var person = Person()
        person.presses("l")
        #expect(person.choice.pane == .latency)
        person.presses("e")
        #expect(person.choice.pane == .events(scrolled: 0))
        person.presses("e")
        #expect(person.choice.pane == nil)
        person.presses("?")
        guard case .help(let help, _) = person.choice.pane else {
            Issue.record("no help")
            return
        }
        #expect(help.contains { $0.meaning == "reconnect now" } && !help.contains { $0.meaning == "faster" })
        person.presses(.named(.escape))
        #expect(person.choice.pane == nil)
        #expect(person.presses("q") == [.quit])
        #expect(person.presses(.control("l")) == [.redraw])
    }

    @Test("Ctrl-C, Ctrl-Z and Ctrl-\\ do what they do everywhere, also while a line is typed")
    func always() {
        var person = Person()
        for _ in 0..<2 {
            #expect(person.presses(.control("c")) == [.quit])
            #expect(person.presses(.control("z")) == [.suspend])
            #expect(person.presses(.control("\\")) == [.abort])
            person.presses("+")
        }
    }

    @Test("The event log scrolls back and forth within its bounds")
    func scrolls() {
        var person = Person()
        person.state.events = (0..<30).map { DisplayEvent(time: $0, text: "\($0)", isTrouble: false) }
        person.presses("e", "k", "k")
        #expect(person.choice.pane == .events(scrolled: 2))
        person.presses(.named(.pageUp))
        #expect(person.choice.pane == .events(scrolled: 12))
        person.presses(.named(.home))
        #expect(person.choice.pane == .events(scrolled: 29))
        person.presses(.named(.end), "j")
        #expect(person.choice.pane == .events(scrolled: 0))
        // The selection behind the pane stays where it is.
        #expect(person.choice.selected == nil)
    }

    @Test(
        "The help scrolls to its last key on the smallest screen that has panes, and no further",
        arguments: [10, 6, 24]
    )
    func helpScrolls(rows: Int) throws {
        var person = Person(reach: ScreenReach())
        person.state.replay = Person.replaying
        person.presses("?")
        let keys = KeyBindings().help(isReplay: true)
        var seen: Set<String> = []
        func look() -> Int {
            let size = ScreenGrid.Size(columns: 40, rows: rows)
            let frame = DisplayView.frame(of: person.shown, choice: person.choice, size: size, now: person.now)
            let text = (0..<rows).map(frame.grid.line).joined(separator: "\n")
            for key in keys where text.contains(key.meaning.prefix(12)) { seen.insert(key.meaning) }
            return frame.helpEnd ?? -1
        }
        let end = look()
        #expect(end > 0 || rows == 24)
        for _ in 0..<40 {
            person.dialogue.helpEnd = look()
            person.presses("j")
        }
        #expect(seen.count == keys.count, "\(keys.map(\.meaning).filter { !seen.contains($0) })")
        guard case .help(_, let scrolled) = person.choice.pane else { throw Missing() }
        #expect(scrolled == end)
        // The first key up moves at once.
        person.presses("k")
        #expect(person.choice.pane == .help(keys, scrolled: max(end - 1, 0)))
        person.presses(.named(.home))
        #expect(person.choice.pane == .help(keys, scrolled: 0))
    }

    private struct Missing: Error {}

    @Test("An alert that will not be kept says so when it is set")
    func lostAlert() {
        var reach = ScreenReach()
        reach.alertsAreLost = { "it ends with this watch" }
        var person = Person(reach: reach)
        person.presses("a")
        person.types("above 1")
        person.presses(.named(.enter))
        person.hears(.alertSet("X:A above 1", problem: nil))
        #expect(person.said == "alert: X:A above 1; it ends with this watch")
    }

    @Test("A frozen picture stays as it was while the feed runs on, and tells when the feed comes to grief")
    func freezes() {
        var person = Person()
        person.presses("p")
        #expect(person.choice.frozenSince == sampleNoon)
        person.state.rows[0].summary.price = sampleDecimal("1")
        #expect(person.shown.rows[0].summary.price == sampleDecimal("61837.63"))
        #expect(person.said == nil)
        person.state.status = sampleStatus(.reconnecting(attempt: 1, retryAt: 0), reason: "no pong")
        #expect(person.said == "meanwhile the feed is reconnecting: no pong")
        person.presses("p")
        #expect(person.choice.frozenSince == nil)
        #expect(person.shown.rows[0].summary.price == sampleDecimal("1"))
    }

    @Test("A symbol is added by its whole name; the line stays open with the problem until it is done")
    func adds() {
        var person = Person(reach: ScreenReach(search: "no list here"))
        #expect(person.presses("+") == [])
        #expect(person.prompt?.title == "add a symbol" && person.prompt?.message == "no list here")
        // Letters are no commands here.
        #expect(person.types("X:q") == [])
        #expect(person.prompt?.text == "X:q" && person.prompt?.caret == 3)
        #expect(person.presses(.named(.enter)) == [.subscribe("X:q")])
        // Enter held down asks once.
        #expect(person.presses(.named(.enter)) == [])
        person.hears(.subscribed("X:q", problem: "all 50 places are taken"))
        #expect(person.prompt?.message == "all 50 places are taken" && person.prompt?.text == "X:q")
        #expect(person.presses(.named(.enter)) == [.subscribe("X:q")])
        person.hears(.subscribed("X:q", problem: nil))
        #expect(person.choice.pane == nil && person.choice.selected == "X:q")
    }

    @Test("A line that was closed meanwhile stays closed; its problem is said, its success selects")
    func answersLate() {
        var person = Person(reach: ScreenReach(search: "no list here"))
        person.presses("+")
        person.types("X:D")
        person.presses(.named(.enter), .named(.escape))
        person.hears(.subscribed("X:D", problem: "no place"))
        #expect(person.choice.pane == nil && person.said == "no place")
        // The next key takes the words away.
        person.presses("j")
        #expect(person.said == nil)
        // Another line was opened: it is not closed by the answer to the one before.
        person.presses("+")
        person.types("X:E")
        person.hears(.subscribed("X:D", problem: nil))
        #expect(person.prompt?.text == "X:E" && person.choice.selected == "X:D")
    }

    @Test("What is there already is selected, an empty line does nothing, and blanks around a name do not count")
    func addsNothing() {
        var person = Person(reach: ScreenReach(search: "no list here"))
        person.presses("+")
        person.types("  X:C ")
        #expect(person.presses(.named(.enter)) == [])
        #expect(person.choice.selected == "X:C" && person.said == "X:C is on the screen already")
        person.presses("+", " ")
        #expect(person.presses(.named(.enter)) == [] && person.choice.pane == nil)
    }

    @Test("Suggestions come while typing; the answer to an older search does not replace that to a newer one")
    func searches() throws {
        var person = Person(reach: ScreenReach())
        let fits = [
            DisplayPrompt.Suggestion(text: "BINANCE:BTCUSDT", note: "Bitcoin"), .init(text: "KRAKEN:XBT", note: ""),
        ]
        person.presses("+")
        #expect(person.types("b") == [.search("b", number: 1)])
        // One search at a time: what is typed meanwhile waits for its answer.
        #expect(person.types("it") == [])
        #expect(person.hears(.found([], number: 1, problem: nil)) == [.search("bit", number: 2)])
        #expect(person.hears(.found([fits[1]], number: 1, problem: nil)) == [])
        #expect(person.prompt?.suggestions == [])
        #expect(person.hears(.found(fits, number: 2, problem: nil)) == [])
        #expect(person.prompt?.suggestions == fits && person.prompt?.chosen == 0)
        person.presses(.named(.down), .named(.down))
        #expect(person.prompt?.chosen == 1)
        person.presses(.named(.up), .named(.up))
        #expect(person.prompt?.chosen == 0)
        #expect(person.presses(.named(.enter)) == [.subscribe("BINANCE:BTCUSDT")])
    }

    @Test("A search that answers late does not take away why a symbol cannot be had")
    func refusedBeforeFound() {
        var person = Person(reach: ScreenReach())
        person.presses("+")
        #expect(person.types("X") == [.search("X", number: 1)])
        #expect(person.presses(.named(.enter)) == [.subscribe("X")])
        person.hears(.subscribed("X", problem: "the recording has no X"))
        person.hears(.found([], number: 1, problem: "nothing fits"))
        #expect(person.prompt?.message == "the recording has no X")
        person.types("Y")
        person.hears(.found([], number: 2, problem: "nothing fits"))
        #expect(person.prompt?.message == "nothing fits")
    }

    @Test("A search that never answers is given up, and its late answer is not heard")
    func searchHangs() {
        var person = Person(reach: ScreenReach())
        person.presses("+")
        #expect(person.types("a") == [.search("a", number: 1)])
        person.now.monotonic += 6 * oneSecond
        #expect(person.types("b") == [.search("ab", number: 2)])
        #expect(person.hears(.found([.init(text: "OLD", note: "")], number: 1, problem: nil)) == [])
        #expect(person.prompt?.suggestions == [])
    }

    @Test("Tab completes, a whole name is taken as it stands, and a problem of the search is shown with its cure")
    func completes() {
        var person = Person(reach: ScreenReach())
        person.presses("+")
        person.types("e")
        person.hears(.found([.init(text: "X:ETH", note: "Ether")], number: 1, problem: nil))
        #expect(person.presses(.named(.tab)) == [.search("X:ETH", number: 2)])
        #expect(person.prompt?.text == "X:ETH")
        person.hears(.found([.init(text: "X:ETHW", note: "")], number: 2, problem: nil))
        #expect(person.prompt?.chosen == nil)
        #expect(person.presses(.named(.enter)) == [.subscribe("X:ETH")])
        person.hears(.subscribed("X:ETH", problem: nil))
        person.presses("+")
        person.types("z")
        person.hears(.found([], number: 3, problem: "no key: set FINNHUB_TOKEN"))
        #expect(person.prompt?.message == "no key: set FINNHUB_TOKEN")
        // By a name's letters in another case the suggestion is meant.
        person.presses(.named(.escape), "+")
        person.types("x:y")
        person.hears(.found([.init(text: "X:Y", note: "")], number: 4, problem: nil))
        #expect(person.presses(.named(.enter)) == [.subscribe("X:Y")])
    }

    @Test("A line takes pasted text, 128 characters at most, and is edited as in a shell")
    func edits() {
        var person = Person(reach: ScreenReach(search: "no list"))
        // Outside of a line, pasted text is nothing.
        #expect(person.dialogue.took(.pasted("q"), state: person.state, now: person.now) == [])
        #expect(person.choice.pane == nil)
        person.presses("+")
        _ = person.dialogue.took(.pasted("BINANCE:BTCUSDT q"), state: person.state, now: person.now)
        #expect(person.prompt?.text == "BINANCE:BTCUSDT q")
        person.presses(.control("w"), .named(.backspace), .named(.home), .named(.delete), .named(.right), "x")
        #expect(person.prompt?.text == "IxNANCE:BTCUSDT" && person.prompt?.caret == 2)
        person.presses(.named(.left), .control("k"), .named(.end), "é")
        #expect(person.prompt?.text == "Ié" && person.prompt?.caret == 2)
        // A mark joins the character before it, and both go at once.
        person.presses("e")
        person.types("\u{301}")
        #expect(person.prompt?.text == "Iée\u{301}" && person.prompt?.caret == 3)
        person.presses(.named(.backspace))
        #expect(person.prompt?.text == "Ié")
        person.presses(.control("u"))
        #expect(person.prompt?.text == "" && person.prompt?.caret == 0)
        let flood = String(repeating: "a", count: 4_000)
        _ = person.dialogue.took(.pasted(flood), state: person.state, now: person.now)
        _ = person.dialogue.took(.pasted(flood), state: person.state, now: person.now)
        #expect(person.prompt?.text.count == 128 && person.prompt?.caret == 128)
        person.presses(.control("u"))
        let marks = "a" + String(repeating: "\u{301}", count: 4_000)
        _ = person.dialogue.took(.pasted(marks), state: person.state, now: person.now)
        #expect((person.prompt?.text.utf8.count ?? 0) <= ScreenDialogue.longestLineBytes)
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
            var person = Person(reach: ScreenReach(search: "no list"))
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
        var person = Person()
        person.presses("j")
        #expect(person.presses("-") == [.unsubscribe("X:B")])
        #expect(person.choice.selected == "X:C")
        person.hears(.unsubscribed("X:B", problem: nil))
        #expect(person.said == "X:B is removed; + adds it again")
        person.state.rows.remove(at: 1)
        #expect(person.presses(.named(.delete)) == [.unsubscribe("X:C")])
        #expect(person.choice.selected == "X:A")
        person.state.rows.remove(at: 1)
        #expect(person.presses("-") == [])
        #expect(person.said == "the last symbol stays: add another one first")
    }

    @Test("What cannot be done says in one line what is missing")
    func outOfReach() {
        var person = Person(
            reach: ScreenReach(
                subscribe: "no adding",
                unsubscribe: "no removing",
                reconnect: "no reconnecting",
                news: "no news",
                setAlert: "no alerts",
                removeAlert: "no alerts to remove",
                replay: "this is not a replay"
            )
        )
        let tried: [(TerminalKey, String)] = [
            ("+", "no adding"), ("-", "no removing"), ("r", "no reconnecting"), ("n", "no news"), ("a", "no alerts"),
            (" ", "this is not a replay"), ("[", "this is not a replay"), ("]", "this is not a replay"),
            ("g", "this is not a replay"), (".", "this is not a replay"), (.named(.left), "this is not a replay"),
        ]
        for (key, words) in tried {
            #expect(person.presses(key) == [])
            #expect(person.said == words)
            #expect(person.choice.pane == nil)
        }
        person.presses("A", "-")
        #expect(person.said == "no alerts to remove")
    }

    @Test("r asks for a new connection, and tells what became of it")
    func reconnects() {
        var person = Person()
        #expect(person.presses("r") == [.reconnect])
        person.hears(.reconnecting(problem: "not before 14:03:05 UTC, in 42 s: HTTP 429"))
        #expect(person.said == "not before 14:03:05 UTC, in 42 s: HTTP 429")
        person.hears(.reconnecting(problem: nil))
        #expect(person.said == "connecting anew, as asked")
    }

    @Test("An alert begins with the selected symbol, is judged before it is set, and removed from the list")
    func alerts() {
        var reach = ScreenReach()
        reach.checkAlert = { $0.hasSuffix("above") ? "above what?" : nil }
        var person = Person(reach: reach)
        person.presses("j", "a")
        #expect(person.prompt?.text == "X:B ")
        person.types("above")
        #expect(person.presses(.named(.enter)) == [])
        #expect(person.prompt?.message == "above what?")
        person.types(" 60000")
        #expect(person.prompt?.message == nil)
        #expect(person.presses(.named(.enter)) == [.setAlert("X:B above 60000")])
        person.hears(.alertSet("X:B above 60000", problem: nil))
        #expect(person.choice.pane == nil && person.said == "alert: X:B above 60000")
        person.state.alerts = [
            DisplayAlert(text: "X:A above 1", state: "armed"), DisplayAlert(text: "X:B above 60000", state: "armed"),
        ]
        person.presses("A", "j", "j")
        #expect(person.choice.pane == .alerts(selected: 1))
        #expect(person.presses("-") == [.removeAlert(1, text: "X:B above 60000")])
        person.state.alerts.removeLast()
        person.hears(.alertRemoved("X:B above 60000", problem: nil))
        #expect(person.choice.pane == .alerts(selected: 0))
    }

    @Test("News are asked for when their pane opens, and not again for a minute")
    func news() {
        var person = Person()
        #expect(person.presses("n") == [.news])
        #expect(person.shown.news == .asking)
        #expect(person.presses("n", "n") == [])
        let lines = [DisplayHeadline(time: 0, source: "S", text: "one"), .init(time: 0, source: "S", text: "two")]
        person.hears(.news(.headlines(lines)))
        #expect(person.shown.news == .headlines(lines))
        person.presses("j", "j", "j")
        #expect(person.choice.pane == .news(scrolled: 1))
        #expect(person.presses("n", "n") == [])
        person.now.monotonic += 61 * oneSecond
        #expect(person.presses("n", "n") == [.news])
        person.hears(.news(.failed("no key")))
        #expect(person.presses("n", "n") == [.news])
    }

    @Test("A replay is paused, stepped, moved and paced by keys, and its help has them")
    func replays() {
        var person = Person(reach: ScreenReach())
        person.state.replay = Person.replaying
        #expect(person.presses(" ") == [.replay(.togglePause)])
        #expect(person.presses("[", "]") == [.replay(.slower), .replay(.faster)])
        #expect(person.presses(",", ".") == [.replay(.stepMessages(-1)), .replay(.stepMessages(1))])
        #expect(person.presses("<", ">") == [.replay(.stepTime(-oneSecond)), .replay(.stepTime(oneSecond))])
        #expect(person.presses(.named(.left)) == [.replay(.seek(.time(sampleNoon.wall - 10 * oneSecond)))])
        #expect(person.presses(.named(.right)) == [.replay(.seek(.time(sampleNoon.wall + 10 * oneSecond)))])
        person.state.replay?.at = Person.replaying.end
        #expect(person.presses(.named(.right)) == [.replay(.seek(.time(Person.replaying.end)))])
        person.presses("g")
        person.types("gap")
        #expect(person.presses(.named(.enter)) == [.replay(.seek(.nextGap))])
        #expect(person.choice.pane == nil)
        person.presses("g")
        person.types("elsewhere")
        #expect(person.presses(.named(.enter)) == [])
        #expect(person.prompt?.message == TypedPlace.usage)
        person.presses(.named(.escape), "?")
        guard case .help(let help, _) = person.choice.pane else {
            Issue.record("no help")
            return
        }
        #expect(help.contains { $0.meaning == "faster" })
    }

    @Test("Keys that were changed do what they are changed to, and the others of that action do nothing")
    func rebinds() {
        var bindings = KeyBindings()
        bindings[.quit] = [.function(10)]
        bindings[.help] = ["h"]
        bindings[.rewind] = []
        var person = Person(bindings: bindings)
        #expect(person.presses("q", "Q") == [])
        #expect(person.presses(.function(10)) == [.quit])
        #expect(person.choice.hints == ["h help   F10 quits", "h help"])
    }
}
