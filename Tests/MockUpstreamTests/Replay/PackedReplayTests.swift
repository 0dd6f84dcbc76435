import Glibc
import Market
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import Recordings
import Testing
import TickertapeTesting
import Wire
@testable import Feeds
@testable import MockUpstream

/// Recordings as they are on disk: in several files, compressed or not.
@Suite("A replay of a recording's files")
struct PackedReplayTests {
    private func play(
        _ path: String,
        for time: TimeAmount,
        _ change: (inout ReplaySettings) -> Void = { _ in }
    ) throws -> (player: ReplayPlayer, output: PlayedLog, loop: EmbeddedEventLoop) {
        let loop = EmbeddedEventLoop()
        var settings = ReplaySettings()
        change(&settings)
        let file = try RecordingFile(path: path)
        let player = try ReplayPlayer(.recording(file), settings: settings, loop: loop, wallClock: { 0 })
        let output = PlayedLog(loop)
        player.attach(output)
        player.start()
        loop.advanceTime(by: time)
        return (player, output, loop)
    }

    @Test(
        "all files of the run are played as one from the named one on, at their times, whichever are compressed",
        arguments: [[false, false, false], [true, true, true], [true, false, true], [false, true, false]]
    )
    func segments(isPacked: [Bool]) throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        var recording = SegmentedRecording(in: folder)
        for (index, isPacked) in isPacked.enumerated() {
            let numbers = (index * 10)..<(index * 10 + 10)
            // Another second passes between two files.
            try recording.write(from: index * 2_000, SegmentedRecording.trades(numbers), isPacked: isPacked)
        }
        // A file of another run that continued the series of names.
        var other = SegmentedRecording(in: folder)
        try other.write(from: 6_000, SegmentedRecording.trades(50..<55), place: 4, epoch: 6)
        let expected = (0..<30).map { "\($0 / 10 * 2_000 + $0 % 10 * 100) \($0)" }
        for name in ["a.jsonl", "a.jsonl.zst"] where name == "a.jsonl" || isPacked[0] {
            let (player, output, _) = try self.play("\(folder.path)/\(name)", for: .seconds(10))
            #expect(output.take() == expected && output.isEnded)
            #expect(player.position.end - player.position.start == 4_900_000_000)
        }
        // From the second file on, whose beginning is then that of the recording.
        let (_, rest, _) = try self.play("\(folder.path)/a-0002.jsonl", for: .seconds(10))
        #expect(rest.take() == (10..<30).map { "\($0 / 10 * 2_000 - 2_000 + $0 % 10 * 100) \($0)" })
        // The files after a missing one are another recording.
        try folder.delete("a-0002.jsonl\(isPacked[1] ? ".zst" : "")")
        let (_, first, _) = try self.play("\(folder.path)/a.jsonl", for: .seconds(10))
        #expect(first.take() == Array(expected.prefix(10)) && first.isEnded)
    }

    @Test("places refer to the whole: by percent, time and step, across the files' ends and back")
    func places() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        var recording = SegmentedRecording(in: folder)
        for index in 0..<4 {
            let numbers = (index * 10)..<(index * 10 + 10)
            try recording.write(from: index * 1_000, SegmentedRecording.trades(numbers), isPacked: index % 2 == 0)
        }
        let (player, output, loop) = try self.play(recording.names.path(1), for: .milliseconds(50)) {
            $0.from = .offset(1_000_000_000)
            $0.to = .percent(90)
            $0.machine.isPaused = true
        }
        func ask(_ request: ReplayRequest) throws -> [Substring] {
            var answer: Result<ReplayPosition, ReplayRefusal>?
            player.request(request) { answer = $0 }
            loop.run()
            _ = try #require(answer).get()
            return output.take().compactMap { $0.split(separator: " ").last }
        }
        #expect(output.take() == [])
        #expect(try ask(.stepMessages(1)) == ["10"])
        #expect(try ask(.seek(.offset(1_850_000_000))) == ["28"])
        #expect(try ask(.stepMessages(-9)) == ["19"])
        #expect(try ask(.stepMessages(2)) == ["20", "21"])
        #expect(try ask(.seek(.percent(50))) == ["22"])
        #expect(try ask(.stepTime(-1_000_000_000)) == ["12"])
        #expect(try ask(.seek(.percent(100))) == ["35"])
        #expect(!output.isEnded)
        _ = try ask(.resume)
        #expect(output.isEnded)
    }

    @Test(
        "any time is found as by reading from the start, and little of the files is read for it",
        arguments: [false, true]
    )
    func littleIsRead(isPacked: Bool) throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        var recording = SegmentedRecording(in: folder)
        for index in 0..<2 {
            let lines = (0..<1_000).flatMap { step -> [SegmentedRecording.Line] in
                [.noise(at: step * 10, bytes: 6_000), .trade(at: step * 10 + 5, number: index * 1_000 + step)]
            }
            try recording.write(from: index * 20_000, lines, isPacked: isPacked)
        }
        let file = try RecordingFile(path: recording.names.path(1))
        let opening = try file.makeReader()
        let whole = try file.makeReader()
        var all: [Int64] = []
        while let frame = try whole.next() { all.append(frame.at) }
        #expect(all.count == 4_000)
        // Of 12 MB of text, which is so random that it has 7 MB when compressed.
        #expect(whole.bytesRead > 6_500_000)
        #expect(opening.bytesRead < 300_000, "\(opening.bytesRead) bytes to open it")
        #expect(try file.span().bounds == 0...29_995_000_000)
        #expect(opening.bytesRead < 2_500_000, "\(opening.bytesRead) bytes to open it and to know its end")
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<20 {
            let wanted = Int64.random(in: -1_000...30_000, using: &generator) * 1_000_000
            let reader = try file.makeReader()
            try reader.seek(to: wanted)
            #expect(try reader.next()?.at == all.first { $0 >= wanted })
            #expect(reader.bytesRead < 3_500_000, "\(reader.bytesRead) bytes to find \(wanted)")
        }
    }

    @Test("damaged parts are left out and counted once, however many readers find them")
    func damage() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        var recording = SegmentedRecording(in: folder)
        try recording.write(from: 0, [.trade(at: 0, number: 0), .damage, .trade(at: 100, number: 1)])
        let lines = (0..<600).map { SegmentedRecording.Line.noise(at: $0, bytes: 6_000) }
        let trades: [SegmentedRecording.Line] = [.trade(at: 0, number: 2)]
        try recording.write(from: 1_000, trades + lines + [.trade(at: 600, number: 3)], isPacked: true)
        try recording.write(from: 2_000, [.damage, .damage, .trade(at: 0, number: 4)])
        try folder.flip(byte: 1_500_000, of: "a-0002.jsonl.zst")
        let file = try RecordingFile(path: recording.names.path(1))
        let reported = NIOLockedValueBox(0)
        file.damage.watch { _ in reported.withLockedValue { $0 += 1 } }
        for _ in 0..<2 {
            let reader = try file.makeReader()
            var numbers: [Int] = []
            var finder = TradeFinder()
            while let frame = try reader.next() {
                if finder.hasTrades(frame), let number = ReplayRecording.number(of: frame) {
                    numbers.append(number)
                }
            }
            #expect(numbers == [0, 1, 2, 3, 4])
        }
        // Three damaged lines, and the one that is cut where the damaged part begins.
        #expect(file.damage.lines == 4 && file.damage.parts == 1 && reported.withLockedValue { $0 } == 5)
        #expect(file.damage.summary == "4 damaged lines and 1 damaged part")
    }

    @Test("a truncated compressed file is played to its end, and reported once with the place")
    func cutOff() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        var recording = SegmentedRecording(in: folder)
        let lines = (0..<600).map { SegmentedRecording.Line.noise(at: $0, bytes: 6_000) }
        try recording.write(from: 0, [.trade(at: 0, number: 0)] + lines + [.trade(at: 600, number: 1)], isPacked: true)
        let path = "\(folder.path)/a.jsonl.zst"
        try #require(truncate(path, 1_500_000) == 0)
        let file = try RecordingFile(path: path)
        let reported = NIOLockedValueBox<[String]>([])
        file.damage.watch { line in reported.withLockedValue { $0.append(line) } }
        _ = try file.span()
        let reader = try file.makeReader()
        while try reader.next() != nil {}
        let words = reported.withLockedValue { $0 }
        #expect(words.count == 1 && words[0].hasPrefix("\(path), byte "), "\(words)")
        #expect(words.first?.contains("cut off here") == true && file.damage.cutOff == [path])
        #expect(file.damage.summary == nil && file.damage.parts == 0)
    }

    @Test("a file that is compressed during its replay is played on, and places in it are found")
    func compressedMeanwhile() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        var recording = SegmentedRecording(in: folder)
        try recording.write(from: 0, SegmentedRecording.trades(0..<10))
        try recording.write(from: 1_000, SegmentedRecording.trades(10..<20))
        let (player, output, loop) = try self.play(recording.names.path(1), for: .milliseconds(250))
        #expect(output.take() == ["0 0", "100 1", "200 2"])
        #expect(SegmentUpkeep(recording.names).pack() == [])
        loop.advanceTime(by: .milliseconds(900))
        #expect(output.take() == (3..<12).map { "\($0 * 100) \($0)" })
        player.request(.seek(.percent(0))) { _ in }
        #expect(output.take() == ["1150 0"])
    }

    @Test(
        "the service's pings and pongs are played at their times with what was in them; ours are not, and none is a step"
    )
    func signals() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        var ping = RecordedNote(.ping, direction: .incoming)
        var long = ping
        ping.frame = ByteBuffer(string: "hi")
        long.frame = ByteBuffer(string: String(repeating: "x", count: 126))
        var recording = SegmentedRecording(in: folder)
        try recording.write(
            from: 0,
            [
                // Before the first message the replay has not begun.
                .note(RecordedNote(.connect, word: "wss://example"), at: 0), .note(ping, at: 10),
                .trade(at: 100, number: 0), .note(ping, at: 150),
                .note(RecordedNote(.pong, direction: .outgoing), at: 150),
                .note(RecordedNote(.ping, direction: .outgoing), at: 160), .note(long, at: 170),
                .note(RecordedNote(.pong, direction: .incoming), at: 180), .note(ping, at: 200),
                .trade(at: 200, number: 1), .trade(at: 300, number: 2), .note(ping, at: 400),
            ]
        )
        let (player, output, loop) = try self.play(recording.names.path(1), for: .milliseconds(100))
        let signals = ["50 ping hi", "80 pong ", "100 ping hi"]
        #expect(output.take() == ["0 0"] + signals + ["100 1"])
        // A seek lands on the message at that time, not on the ping before it.
        player.request(.pause) { _ in }
        player.request(.seek(.offset(100_000_000))) { _ in }
        loop.run()
        #expect(output.take() == ["100 1"])
        player.request(.stepMessages(-1)) { _ in }
        loop.run()
        #expect(output.take() == ["100 0"])
        player.request(.stepMessages(1)) { _ in }
        loop.run()
        #expect(output.take() == ["100 ping hi", "100 pong ", "100 ping hi", "100 1"])
    }
}
