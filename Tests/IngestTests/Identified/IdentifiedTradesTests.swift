import Market
import Testing
import TickertapeTesting
@testable import Ingest

/// What goes into and comes out of ``IdentifiedTrades``, in one line each.
///
/// In: `A5` a live trade, `A5~` one from before the subscription, `A5?` a report of the newest id, `!` an interruption,
/// `^` a new connection, `.` one second that passes, `|` the end of a read. Each trade is a frame.
///
/// Out: `A5` a trade on the tape, `A5+` one marked as filled, `-A5` a repeat, `~A5` one from before the subscription;
/// `[A5..7]` a gap, before the frame that shows it, with its reason if it has one.
private struct Transcript {
    var ids = IdentifiedTrades()
    private var symbols = SymbolTable()
    private var now = Moment(monotonic: 0, wall: 1_000 * oneSecond)

    mutating func run(_ text: String) -> String {
        var output: [String] = []
        for read in text.split(separator: "|") { output += self.read(read.split(separator: " ").map(String.init)) }
        return output.joined(separator: " ")
    }

    private mutating func read(_ words: [String]) -> [String] {
        var said: [[String]] = []
        var trades: [Trade] = []
        for word in words where !"!^.".contains(word) && !word.hasSuffix("?") {
            let isEarlier = word.hasSuffix("~")
            guard let id = UInt64(isEarlier ? word.dropFirst().dropLast() : word.dropFirst()),
                let symbol = self.symbols.intern(String(word.prefix(1)))
            else { continue }
            trades.append(
                Trade(
                    price: .zero,
                    size: .zero,
                    exchangeTime: Int64(clamping: id),
                    symbol: symbol,
                    id: id,
                    marks: isEarlier ? .filled : []
                )
            )
        }
        self.ids.readBegan(self.now, symbols: self.symbols)
        for word in words {
            switch word {
            case "!": self.ids.interrupted(from: self.now.wall, reason: "cut", cause: .lost)
            case "^":
                self.ids.attempted()
                self.ids.connectionOpened()
            case ".":
                self.now.monotonic += oneSecond
                self.now.wall += oneSecond
                said.append(self.ids.timePassed(now: self.now.monotonic).map(Self.text))
            case _ where word.hasSuffix("?"):
                let id = UInt64(word.dropFirst().dropLast()) ?? 0
                self.ids.newestReported(id, of: String(word.prefix(1)), after: said.count, now: self.now)
            default:
                self.ids.frameBegan(said.count)
                var trade = trades.removeFirst()
                let finding = self.ids.take(&trade)
                let name = "\(self.symbols.name(of: trade.symbol))\(trade.id ?? 0)"
                switch finding {
                case .kept: said.append([name + (trade.marks.contains(.filled) ? "+" : "")])
                case .repeated: said.append(["-" + name])
                case .earlier: said.append(["~" + name])
                }
            }
        }
        for found in self.ids.readEnded().reversed() { said[found.frame].insert(Self.text(found), at: 0) }
        return said.flatMap(\.self)
    }

    private static func text(_ found: FoundGap) -> String {
        let ids = found.gap.missing.map { "\($0.lowerBound)..\($0.upperBound)" } ?? ""
        let reason = found.gap.reason.split(separator: ":")
        return "[\(found.gap.symbol ?? "")\(ids)\(reason.count > 1 ? " " + reason[0] : "")]"
    }
}

@Suite("Trades with ids")
struct IdentifiedTradesTests {
    @Test(
        "prove repeats, holes and late trades",
        arguments: [
            // Ids that continue, of two symbols.
            ("A1 A2 B7 A3 B8", "A1 A2 B7 A3 B8"),
            // A repeat, wherever it comes.
            ("A1 A2 | A2 A1 | A3", "A1 A2 -A2 -A1 A3"),
            // A hole is a gap of one symbol, before the trade that shows it.
            ("A1 A2 | A5 A6 B9", "A1 A2 [A3..4] A5 A6 B9"),
            // Two holes, and one trade.
            ("A1 A4 B1 A6 | A5 | A5", "A1 [A2..3] A4 B1 [A5..5] A6 A5+ -A5"),
            // A late trade closes its part of the hole once.
            ("A1 A6 | A4 | A4 A2 A5 A3 A2 | A7", "A1 [A2..5] A6 A4+ -A4 A2+ A5+ A3+ -A2 A7"),
            // What comes within the same read was never missing.
            ("A1 A4 A2 A3 | A5", "A1 A4 A2+ A3+ A5"),
            ("A1 A6 A3 | A7", "A1 [A2..2] [A4..5] A6 A3+ A7"),
            // The first trade has no hole before it; those directly before it may come late, others are left out.
            ("A10 | A9 A8 A5 A9", "A10 A9+ A8+ -A5 -A9"),
            ("A0 A1 A0", "A0 A1 -A0"),
            // The largest id traps nothing.
            (
                "A5 | A18446744073709551614 | A6 A18446744073709551614 A0",
                "A5 [A6..18446744073709551613] A18446744073709551614 A6+ -A18446744073709551614 -A0"
            ),
        ]
    )
    func ids(input: String, output: String) {
        var transcript = Transcript()
        #expect(transcript.run(input) == output)
    }

    @Test(
        "make an interruption the reason of the holes after it, and no gap by itself",
        arguments: [
            ("A1 B1 | ! ^ | A2 B4", "A1 B1 A2 [B2..3 cut] B4"),
            // Each symbol has it until its next trade.
            ("A1 B1 | ! ^ | A2 A4 | B3", "A1 B1 A2 [A3..3] A4 [B2..2 cut] B3"),
            ("A1 | ! ^ ! ^ ! ^ | A5", "A1 [A2..4 cut, 3 attempts] A5"),
            // The first reason is kept, and a repeat is no newer trade.
            ("A1 | ! ^ | A1 | A3", "A1 -A1 [A2..2 cut] A3"),
            // A report that nothing came since proves that nothing was missed.
            ("A1 | ! ^ | A1? | A3", "A1 [A2..2] A3"),
            // A symbol that never traded before has none.
            ("! ^ | A7 A8", "A7 A8"),
        ]
    )
    func interruptions(input: String, output: String) {
        var transcript = Transcript()
        #expect(transcript.run(input) == output)
    }

    @Test(
        "take those from before the subscription for the beginning, and after an interruption for what was missed",
        arguments: [
            // Kraken's snapshot and Coinbase's last match only say where a symbol begins, in any order.
            ("A51~ A52~ A53~ | A54 A55", "~A51 ~A52 ~A53 A54 A55"),
            ("A53~ A52~ A51~ | A54", "~A53 ~A52 ~A51 A54"),
            ("A70~ | A72", "~A70 [A71..71] A72"),
            // The first live trade ends the beginning.
            ("A51~ | A52 | A54~ | A55", "~A51 A52 [A53..53] A54+ A55"),
            // After an interruption they repeat, fill and continue.
            ("A59 A60 | ! ^ | A58~ A59~ A60~ A61~ A62~ | A63", "A59 A60 ~A58 -A59 -A60 A61+ A62+ A63"),
            ("A59 A60 | ! ^ | A64~ A65~ | A66 | A61", "A59 A60 [A61..63 cut] A64+ A65+ A66 A61+"),
            ("A60 | ! ^ | A63~ A62~ A61~ | A64", "A60 A63+ A62+ A61+ A64"),
            ("A60 | ! ^ | A70~ | A71", "A60 [A61..69 cut] A70+ A71"),
            // Without a live trade before the interruption they are what was missed, too.
            ("A51~ A52~ | ! ^ | A52~ A54~ A55~ | A56", "~A51 ~A52 ~A52 [A53..53 cut] A54+ A55+ A56"),
        ]
    )
    func snapshots(input: String, output: String) {
        var transcript = Transcript()
        #expect(transcript.run(input) == output)
    }

    @Test(
        "are missing a second after the venue has reported them",
        arguments: [
            ("A1 A2 | A4? | .", "A1 A2 [A3..4]"),
            ("A1 A2 | A4? | A3 A4 | .", "A1 A2 A3 A4"),
            ("A1 A2 | A4? A3 | .", "A1 A2 A3 [A4..4]"),
            ("A1 A2 | A4? | . | A3 A4 A5", "A1 A2 [A3..4] A3+ A4+ A5"),
            // Each report has its own second.
            ("A1 | A3? | . A5? | A6", "A1 [A2..3] [A4..5] A6"),
            ("A1 | A3? A5? | . | A6", "A1 [A2..3] [A4..5] A6"),
            // Those whose trades have come take no place.
            ("A1 | A2? A2 A3? A3 A4? A4 A5? A5 A7? | . | A8", "A1 A2 A3 A4 A5 [A6..7] A8"),
            // The first report says where a symbol begins.
            ("A9? | A10 | A8", "A10 -A8"),
            ("A9? A11", "[A10..10] A11"),
            ("A9? | A10~ A11", "~A10 A11"),
            ("A11 A9? | . A12", "A11 A12"),
            ("A1 | A18446744073709551614? | . | A2", "A1 [A2..18446744073709551614] A2+"),
        ]
    )
    func reports(input: String, output: String) {
        var transcript = Transcript()
        #expect(transcript.run(input) == output)
    }

    @Test("are no hole while their symbol is not subscribed")
    func unsubscribed() {
        var transcript = Transcript()
        transcript.ids.subscribed(to: ["A", "B"])
        #expect(transcript.run("A1 B1") == "A1 B1")
        transcript.ids.subscribed(to: ["B"])
        // One was under way.
        #expect(transcript.run("A2 A4 B3") == "A2 A4 [B2..2] B3")
        transcript.ids.subscribed(to: ["A", "B"])
        #expect(transcript.run("A4 A90~ A91~ | A92 A95 A2 A60") == "-A4 ~A90 ~A91 A92 [A93..94] A95 -A2 -A60")
    }

    @Test("have a bounded number of holes; the oldest is not waited for, but filled if its trades come")
    func bounded() {
        var transcript = Transcript()
        let many = (0...MissingIDs.limit).map { "A\(2 * $0 + 2)" }.joined(separator: " ")
        let output = transcript.run("A0 \(many)")
        #expect(output.split(separator: " ").count { $0.hasPrefix("[") } == MissingIDs.limit + 1)
        #expect(transcript.ids.missing.map(\.ids.count) == [MissingIDs.limit])
        #expect(transcript.run("A1 A3 A1") == "A1+ A3+ -A1")
        // A hole that is split takes the place of the oldest one.
        #expect(transcript.run("A2000 | A1000") == "[A\(2 * MissingIDs.limit + 3)..1999] A2000 A1000+")
        #expect(transcript.ids.missing.map(\.ids.count) == [MissingIDs.limit])
        #expect(transcript.ids.missing[0].ids.last == 1_001...1_999)
        #expect(transcript.ids.missing[0].ids.first == 7...7)
        #expect(transcript.run("A5 A7") == "A5+ A7+")
    }

    @Test("say what is missing in words")
    func words() {
        #expect(MissingTrades.text(of: 5...5) == "1 trade missing, id 5")
        #expect(MissingTrades.text(of: 5...6) == "2 trades missing, ids 5 to 6")
        #expect(
            MissingTrades.text(of: 3_735_684_463...3_735_685_666)
                == "1,204 trades missing, ids 3735684463 to 3735685666"
        )
        #expect(MissingTrades.text(of: 1...1_000_000).hasPrefix("1,000,000 trades"))
        #expect(MissingTrades.text(of: 0 ... .max).hasPrefix("18,446,744,073,709,551,615 trades"))
    }
}
