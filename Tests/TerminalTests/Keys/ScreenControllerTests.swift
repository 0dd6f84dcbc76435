import Market
import Testing
import TickertapeTesting
@testable import Terminal

@Suite("The screen's controller")
struct ScreenControllerTests {
    @Test("The selection goes along the table as it is sorted, stops at its ends, and Enter and Esc open and close")
    func selects() {
        var person = PersonAtScreen()
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
        // If a symbol is open, the next one opens in its place.
        person.presses(.named(.up))
        #expect(person.choice.opened == "X:B" && person.choice.selected == "X:B")
        person.presses(.named(.left))
        #expect(person.choice.opened == "X:A")
        person.presses(.named(.escape))
        #expect(person.choice.opened == nil && person.choice.selected == "X:A")
        // In descending order of the names, the next symbol down is another one.
        person.presses("s", "S", .named(.home))
        #expect(person.choice.order == .symbol && person.choice.isReversed && person.choice.selected == "X:C")
        person.presses("s")
        #expect(person.choice.order == .price && !person.choice.isReversed)
    }

    @Test("Keys change the charts' span, and their form between area and candles")
    func charts() {
        var person = PersonAtScreen()
        #expect(person.choice.span == .session && person.choice.form == .area)
        var words: [String] = []
        for _ in ChartSpan.allCases {
            person.presses("t")
            words.append(person.choice.span.word)
        }
        #expect(words == ["1m", "5m", "1h", "1d", "session"])
        person.presses("c")
        #expect(person.choice.form == .candles)
        person.presses("c")
        #expect(person.choice.form == .area)
    }

    @Test("Each pane opens and closes with its key and with Esc, one at a time")
    func panes() {
        var person = PersonAtScreen()
        person.presses("l")
        #expect(person.choice.pane == .list(.latency, at: 0))
        person.presses("e")
        #expect(person.choice.pane == .list(.events, at: 0))
        person.presses("e")
        #expect(person.choice.pane == nil)
        person.presses("?")
        guard case .list(.help(let help), _) = person.choice.pane else {
            Issue.record("no help")
            return
        }
        #expect(help.contains { $0.meaning == "reconnect now" } && !help.contains { $0.meaning == "faster" })
        person.presses(.named(.escape))
        #expect(person.choice.pane == nil)
        #expect(person.presses("q") == [.quit])
        #expect(person.presses(.control("l")) == [.redraw])
    }

    @Test("Ctrl-C, Ctrl-Z and Ctrl-\\ have their usual meaning, also in a prompt")
    func always() {
        var person = PersonAtScreen()
        for _ in 0..<2 {
            #expect(person.presses(.control("c")) == [.quit])
            #expect(person.presses(.control("z")) == [.suspend])
            #expect(person.presses(.control("\\")) == [.abort])
            person.presses("+")
        }
    }

    @Test("The event log scrolls back and forth within its bounds")
    func scrolls() {
        var person = PersonAtScreen()
        person.state.events = (0..<30).map { DisplayEvent(time: $0, text: "\($0)", isTrouble: false) }
        // The newest event is on top, so the down key moves to older ones.
        person.presses("e", "j", "j")
        #expect(person.choice.pane == .list(.events, at: 2))
        person.presses(.named(.pageDown))
        #expect(person.choice.pane == .list(.events, at: 12))
        person.presses(.named(.end))
        #expect(person.choice.pane == .list(.events, at: 29))
        person.presses(.named(.home), "k")
        #expect(person.choice.pane == .list(.events, at: 0))
        // The selection behind the pane stays.
        #expect(person.choice.selected == nil)
    }

    @Test(
        "The help scrolls to its last key on the smallest screen that has panes, and no further",
        arguments: [10, 6, 24]
    )
    func helpScrolls(rows: Int) throws {
        var person = PersonAtScreen(remote: .sample())
        person.state.replay = PersonAtScreen.replaying
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
            person.controller.helpEnd = look()
            person.presses("j")
        }
        #expect(seen.count == keys.count, "\(keys.map(\.meaning).filter { !seen.contains($0) })")
        guard case .list(.help, let scrolled) = person.choice.pane else { throw Missing() }
        #expect(scrolled == end)
        // The first press of the up key scrolls at once.
        person.presses("k")
        #expect(person.choice.pane == .list(.help(keys), at: max(end - 1, 0)))
        person.presses(.named(.home))
        #expect(person.choice.pane == .list(.help(keys), at: 0))
    }

    private struct Missing: Error {}

    @Test("An alert that will be lost at the end is reported as such when it is set")
    func lostAlert() {
        var remote = DisplayRemote.sample()
        remote.alertsAreLost = { "it ends with this watch" }
        var person = PersonAtScreen(remote: remote)
        person.presses("a")
        person.types("above 1")
        person.presses(.named(.enter))
        person.receives(.alertSet("X:A above 1", problem: nil))
        #expect(person.said == "alert: X:A above 1; it ends with this watch")
    }

    @Test("A frozen screen keeps its prices while the feed continues, and reports when the feed fails")
    func freezes() {
        var person = PersonAtScreen()
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

    @Test("An unavailable action has its reason in one line")
    func outOfReach() {
        var person = PersonAtScreen(
            remote: .sample { remote in
                remote.subscribe = .cannot("no adding")
                remote.unsubscribe = .cannot("no removing")
                remote.reconnect = .cannot("no reconnecting")
                remote.news = .cannot("no news")
                remote.setAlert = .cannot("no alerts")
                remote.removeAlert = .cannot("no alerts to remove")
                remote.replay = .cannot("this is not a replay")
            }
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

    @Test("r requests a new connection, and its result is shown")
    func reconnects() {
        var person = PersonAtScreen()
        #expect(person.presses("r") == [.reconnect])
        person.receives(.reconnecting(problem: "not before 14:03:05 UTC, in 42 s: HTTP 429"))
        #expect(person.said == "not before 14:03:05 UTC, in 42 s: HTTP 429")
        person.receives(.reconnecting(problem: nil))
        #expect(person.said == "reconnecting, as requested")
    }

    @Test("v leaves the demo for the live market, and the line that says so has the key as it is bound")
    func live() {
        var demo = PersonAtScreen(remote: .sample { $0.live = .can { nil } })
        #expect(demo.choice.liveHints.first?.contains(": v shows the live market") == true)
        #expect(demo.presses("v") == [.live])
        demo.receives(.live("no route"))
        #expect(demo.said == "no route")
        var bindings = KeyBindings()
        bindings[.live] = [.control("x")]
        let bound = PersonAtScreen(remote: .sample { $0.live = .can { nil } }, bindings: bindings)
        #expect(bound.choice.liveHints.last == "Ctrl-X: live")
        bindings[.live] = []
        #expect(PersonAtScreen(remote: .sample { $0.live = .can { nil } }, bindings: bindings).choice.liveHints == [])
    }

    @Test("v outside the demo says that this is the live market, and the help does not have it")
    func alreadyLive() {
        var person = PersonAtScreen(remote: .sample { $0.live = .cannot("this is the live market") })
        #expect(person.choice.liveHints == [])
        #expect(person.presses("v") == [] && person.said == "this is the live market")
        let bindings = KeyBindings()
        #expect(!bindings.help(isReplay: true).contains { $0.meaning == KeyAction.live.meaning })
        #expect(bindings.help(isReplay: true, isDemo: true).contains { $0.meaning == KeyAction.live.meaning })
    }

    @Test("An alert begins with the selected symbol, is judged before it is set, and removed from the list")
    func alerts() {
        var remote = DisplayRemote.sample()
        remote.checkAlert = { $0.hasSuffix("above") ? "above what?" : nil }
        var person = PersonAtScreen(remote: remote)
        person.presses("j", "a")
        #expect(person.prompt?.text == "X:B ")
        person.types("above")
        #expect(person.presses(.named(.enter)) == [])
        #expect(person.prompt?.message == "above what?")
        person.types(" 60000")
        #expect(person.prompt?.message == nil)
        #expect(person.presses(.named(.enter)) == [.setAlert("X:B above 60000")])
        person.receives(.alertSet("X:B above 60000", problem: nil))
        #expect(person.choice.pane == nil && person.said == "alert: X:B above 60000")
        person.state.alerts = [
            ListedAlert(text: "X:A above 1", state: "armed"), ListedAlert(text: "X:B above 60000", state: "armed"),
        ]
        person.presses("A", "j", "j")
        #expect(person.choice.pane == .list(.alerts, at: 1))
        #expect(person.presses("-") == [.removeAlert(1, text: "X:B above 60000")])
        person.state.alerts.removeLast()
        person.receives(.alertRemoved("X:B above 60000", problem: nil))
        #expect(person.choice.pane == .list(.alerts, at: 0))
    }

    @Test("Headlines are requested when their pane opens, and not again for a minute")
    func news() {
        var person = PersonAtScreen()
        #expect(person.presses("n") == [.news])
        #expect(person.shown.news == .asking)
        #expect(person.presses("n", "n") == [])
        let lines = [DisplayHeadline(time: 0, source: "S", text: "one"), .init(time: 0, source: "S", text: "two")]
        person.receives(.news(.headlines(lines)))
        #expect(person.shown.news == .headlines(lines))
        person.presses("j", "j", "j")
        #expect(person.choice.pane == .list(.news, at: 1))
        #expect(person.presses("n", "n") == [])
        person.now.monotonic += 61 * oneSecond
        #expect(person.presses("n", "n") == [.news])
        person.receives(.news(.failed("no key")))
        #expect(person.presses("n", "n") == [.news])
    }

    @Test("A replay is paused, stepped, moved and paced by keys, and its help has them")
    func replays() {
        var person = PersonAtScreen(remote: .sample())
        person.state.replay = PersonAtScreen.replaying
        #expect(person.presses(" ") == [.replay(.togglePause)])
        #expect(person.presses("[", "]") == [.replay(.slower), .replay(.faster)])
        #expect(person.presses(",", ".") == [.replay(.stepMessages(-1)), .replay(.stepMessages(1))])
        #expect(person.presses("<", ">") == [.replay(.stepTime(-oneSecond)), .replay(.stepTime(oneSecond))])
        #expect(person.presses(.named(.left)) == [.replay(.seek(.time(sampleNoon.wall - 10 * oneSecond)))])
        #expect(person.presses(.named(.right)) == [.replay(.seek(.time(sampleNoon.wall + 10 * oneSecond)))])
        person.state.replay?.at = PersonAtScreen.replaying.end
        #expect(person.presses(.named(.right)) == [.replay(.seek(.time(PersonAtScreen.replaying.end)))])
        person.presses("g")
        person.types("gap")
        #expect(person.presses(.named(.enter)) == [.replay(.seek(.nextGap))])
        #expect(person.choice.pane == nil)
        person.presses("g")
        person.types("elsewhere")
        #expect(person.presses(.named(.enter)) == [])
        #expect(person.prompt?.message == TypedPlace.usage)
        person.presses(.named(.escape), "?")
        guard case .list(.help(let help), _) = person.choice.pane else {
            Issue.record("no help")
            return
        }
        #expect(help.contains { $0.meaning == "faster" })
    }

    @Test("Rebound keys have their new action, and the action's default keys do nothing")
    func rebinds() {
        var bindings = KeyBindings()
        bindings[.quit] = [.function(10)]
        bindings[.help] = ["h"]
        bindings[.rewind] = []
        var person = PersonAtScreen(bindings: bindings)
        #expect(person.presses("q", "Q") == [])
        #expect(person.presses(.function(10)) == [.quit])
        #expect(person.choice.hints == ["h help   F10 quits", "h help"])
    }
}
