import Ingest
import Market
import NIOCore
import Recordings
import Testing
import TickertapeTesting
import Wire
@testable import MockUpstream

@Suite("The replay of a recording whose trades have ids")
struct IdentifiedReplayTests {
    /// Runs a session and records it; returns the recording's path and the lines of the tape.
    private func record(
        in folder: TemporaryFolder,
        epoch: UInt64? = 3,
        _ run: (RecordedSession) -> Void
    ) throws -> (path: String, lines: [String]) {
        let path = "\(folder.path)/a.jsonl"
        let session = try RecordedSession(path: path, epoch: epoch)
        run(session)
        session.finish()
        return (path, session.tape.lines)
    }

    /// A hole of each kind, and each way in which it ends.
    private func hardSession(_ session: RecordedSession) {
        session.read(0, 1, 2, 3)
        session.read(1, 10, 11)
        // A hole within a read, before its second frame, and a repeat.
        session.say(1, [12])
        session.say(0, [9, 3, 10])
        session.say(1, [13])
        session.endRead()
        // A heartbeat shows a hole a second later; one of its trades comes late.
        session.report(0, 14)
        session.passTime(milliseconds: 1_001)
        session.read(0, 12, 15)
        // The REST service has what is missing, what was seen, and what comes live.
        session.answer(0, [2, 4, 5, 6, 7, 9, 13, 16, 17])
        session.answer(0, [1, 2, 3])
        session.answer(0, nil)
        session.answer(1, [])
        session.read(0, 16, 17)
        session.giveUp(0, 1...9)
        session.read(0, 8)
        session.giveUp(0, 0 ... .max)
        session.read(0, 14, 14)
        // A frame of which everything was seen.
        session.read(0, 15, 16, 17)
        session.reconnect()
        // The snapshot overlaps, and does not reach back to the break.
        session.read(1, 13, 14, 18, 19, as: .snapshot)
        session.read(0, 16, 17, 18, as: .snapshot)
        session.read(1, 20, 22)
        session.answer(1, [15, 16, 17, 19])
        // While the second symbol is not subscribed, nothing of it is missing.
        session.input.symbols = [RecordedSession.symbols[0]]
        session.read(1, 23)
        session.read(0, 19, 21)
        session.answer(1, [21])
        session.input.symbols = RecordedSession.symbols
        session.read(1, 40, as: .snapshot)
        session.read(1, 41, 43)
        session.read(1, 42)
        session.read(0, 20, 22)
        // A hole that is still open at the end.
        session.read(0, 30)
    }

    @Test("gives the tape again: trades with numbers and marks, gaps and outcomes at their places")
    func hard() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let (path, lines) = try self.record(in: folder, self.hardSession)
        #expect(lines.contains { $0.hasPrefix("gap") } && lines.contains { $0.contains("14-14 too old") })
        #expect(lines.contains { $0.contains("the symbol was unsubscribed") })
        #expect(try RecordedReplay.run(path) == lines)
        // However the frames are cut into reads.
        #expect(try RecordedReplay.run(path, endsRead: { $0 % 5 == 0 }) == lines)
        #expect(try RecordedReplay.run(path, endsRead: { _ in false }) == lines)
        // Skipped silences and a speed change nothing.
        #expect(try RecordedReplay.run(path, change: { $0.replay.machine.longestSilence = oneSecond / 2 }) == lines)
        #expect(try RecordedReplay.run(path, change: { $0.speed = 100 }) == lines)
    }

    @Test("has the gaps before the first trade and the gaps and outcomes behind the last one, too")
    func ends() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let (path, lines) = try self.record(in: folder) { session in
            session.read(0, 1, 5)
            session.pass(milliseconds: 20)
            session.giveUp(0, 2...4)
            session.report(0, 7)
            session.passTime(milliseconds: 1_001)
        }
        #expect(lines.count == 5 && lines.last?.hasPrefix("gap") == true, "\(lines)")
        #expect(try RecordedReplay.run(path) == lines)
        #expect(try RecordedReplay.run(path, change: { $0.replay.machine.longestSilence = oneSecond / 2 }) == lines)
        // A part of it ends where its user says.
        #expect(try RecordedReplay.run(path, change: { $0.replay.to = .percent(100) }) == Array(lines.prefix(3)))
    }

    @Test("is recorded as the session was, so that its recording gives the same tape")
    func recordedReplay() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let (path, lines) = try self.record(in: folder, self.hardSession)
        let recorder = try Recorder(
            path: "\(folder.path)/b.jsonl",
            symbols: RecordedSession.symbols,
            started: RecordedSession.start,
            program: "test",
            epoch: 9,
            dialect: .kraken,
            source: "replay",
            clock: RecorderClock(wall: { RecordedSession.start }, monotonic: { 0 }),
            isByHand: true,
            printError: { Issue.record("\($0)") }
        )
        _ = try RecordedReplay.run(path, reader: recorder, endsRead: { $0 % 3 == 0 })
        _ = recorder.close()
        #expect(try RecordedReplay.run("\(folder.path)/b.jsonl") == lines)
    }

    @Test("gives one symbol's part of the tape to a feed that subscribes to that one alone", arguments: [0, 1])
    func oneSymbol(symbol: Int) throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let (path, lines) = try self.record(in: folder, self.hardSession)
        let name = RecordedSession.symbols[symbol]
        func ownLines(_ lines: [String]) -> [Substring] {
            lines.filter { $0.contains(name) }.map { line in
                // The numbers differ.
                line.drop { $0 != "K" }
            }
        }
        let part = try RecordedReplay.run(path, symbols: [name])
        #expect(part.count == ownLines(part).count)
        #expect(ownLines(part) == ownLines(lines))
    }

    @Test("gives the tape of any session again", arguments: 0..<40)
    func anySession(seed: Int) throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let (path, lines) = try self.record(in: folder) { session in
            var chance = SeededGenerator(seed: UInt64(seed))
            var newest: [UInt64] = [100, 5_000]
            for symbol in 0..<2 { session.read(symbol, newest[symbol]) }
            for _ in 0..<400 { self.step(session, &newest, &chance) }
            // What follows the last message is not played.
            session.read(0, newest[0] + 1)
        }
        #expect(lines.count > 300)
        #expect(try RecordedReplay.run(path) == lines)
        #expect(try RecordedReplay.run(path, endsRead: { $0 % 7 == 3 }) == lines)
    }

    private func step(_ session: RecordedSession, _ newest: inout [UInt64], _ chance: inout SeededGenerator) {
        let symbol = Int.random(in: 0..<2, using: &chance)
        let before = newest[symbol]
        let old = before - UInt64.random(in: 0...60, using: &chance)
        switch Int.random(in: 0..<100, using: &chance) {
        case 0..<10: newest[symbol] += UInt64.random(in: 1...9, using: &chance)
        case 10..<18: session.say(symbol, [old, old + 1])
        case 18..<24: session.answer(symbol, Array(old...old + UInt64.random(in: 0...40, using: &chance)))
        case 24..<27: session.giveUp(symbol, old...old + UInt64.random(in: 0...20, using: &chance))
        case 27..<29: session.reconnect()
        case 29..<32: session.say(symbol, Array(old...max(old, before) + 2), as: .snapshot)
        case 32..<35:
            session.endRead()
            session.report(symbol, newest[symbol])
            session.passTime(milliseconds: 1_001)
        case 35..<37: session.input.symbols = [RecordedSession.symbols[symbol]]
        case 37..<39: session.input.symbols = RecordedSession.symbols
        case 39..<41: session.answer(symbol, nil)
        default:
            let count = UInt64.random(in: 1...3, using: &chance)
            newest[symbol] += count
            session.say(symbol, Array(newest[symbol] - count + 1...newest[symbol]))
        }
        if Int.random(in: 0..<2, using: &chance) == 0 { session.endRead() }
        session.pass(milliseconds: 1)
    }

    @Test("judges the trades by their ids where the recording has no numbers of them")
    func unnumbered() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        // A recorder that knows neither epoch nor run writes no numbers.
        let (path, lines) = try self.record(in: folder, epoch: nil) { session in
            session.read(0, 1, 2)
            session.read(0, 2, 6)
            session.read(0, 4)
            session.answer(0, [1, 3, 6, 7])
            session.giveUp(0, 5...5)
            session.read(0, 7)
        }
        func withoutTimes(_ lines: [String]) -> [String] {
            lines.map { $0.split(separator: " ").filter { $0.utf8.count < 12 }.joined(separator: " ") }
        }
        #expect(try withoutTimes(RecordedReplay.run(path)) == withoutTimes(lines))
    }

    @Test("has no exchange with a REST service among the messages of a client", arguments: [true, false])
    func messages(hasMarks: Bool) throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let (path, _) = try self.record(in: folder, self.hardSession)
        let marks = hasMarks ? FrameMarks() : nil
        marks?.opened(nil)
        let trades = try RecordedReplay.play(path, marks: marks).filter { String(buffer: $0).contains("trade_id") }
        let recorded = try RecordingStream(path: path)
        var texts: [ByteBuffer] = []
        var exchanges = 0
        while let line = try recorded.next() {
            guard let frame = line.frame else { continue }
            if frame.dialect == .kraken { texts.append(frame.frame) } else { exchanges += 1 }
        }
        #expect(trades == texts && exchanges == 6)
        let answers = marks?.take(after: .max).count { if case .answer = $0 { true } else { false } }
        #expect(answers == (hasMarks ? exchanges : nil))
    }

    @Test("begins at any place, and keeps what the recording says of the trades from there on")
    func fromThere() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let (path, lines) = try self.record(in: folder, self.hardSession)
        // After the heartbeat's gap.
        let part = try RecordedReplay.run(path, change: { $0.replay.from = .offset(oneSecond) })
        let first = try #require(part.first)
        let marks = lines.filter { $0.hasSuffix(" 4") }.map { $0.drop { $0 != "K" } }
        #expect(first.contains("KRAKEN"))
        #expect(part.filter { $0.hasSuffix(" 4") }.map { $0.drop { $0 != "K" } } == marks)
    }
}
