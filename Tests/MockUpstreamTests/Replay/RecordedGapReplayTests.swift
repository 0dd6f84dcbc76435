import Market
import NIOCore
import Recordings
import Testing
import TickertapeTesting
import Wire
@testable import Feeds
@testable import MockUpstream
@testable import Simulation

/// A recording's gaps, as the readers of its replay get them.
@Suite("A replay of recorded gaps")
struct RecordedGapReplayTests {
    private static func gap(_ from: Int, _ to: Int, _ reason: String, symbol: String? = nil) -> Gap {
        Gap(
            from: ReplayRecording.start + Int64(from) * 1_000_000,
            to: ReplayRecording.start + Int64(to) * 1_000_000,
            reason: reason,
            nextSequence: 77,
            epoch: 5,
            overlap: 2,
            overlapBounds: OverlapBounds(least: 1, most: 3),
            symbol: symbol
        )
    }

    private static let lines: [SegmentedRecording.Line] = [
        .trade(at: 0, number: 0), .trade(at: 900, number: 1), .gap(Self.gap(900, 3_000, "lost"), at: 3_000),
        .trade(at: 3_000, number: 2), .gap(Self.gap(2_000, 3_500, "quiet", symbol: "A"), at: 3_500),
        .gap(Self.gap(2_000, 3_500, "quiet", symbol: "B"), at: 3_500), .trade(at: 3_600, number: 3),
        .gap(Self.gap(3_600, 9_000, "the end"), at: 9_000), .trade(at: 40_000, number: 4),
    ]

    /// Plays a recording with gaps in virtual time; returns what its readers got.
    private func play(
        _ lines: [SegmentedRecording.Line] = Self.lines,
        _ change: (inout ReplaySettings) -> Void = { _ in }
    ) throws -> TapeLog.Contents {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        var recording = SegmentedRecording(in: folder)
        try recording.write(from: 0, lines)
        var settings = ReplaySettings()
        change(&settings)
        let file = try RecordingFile(path: recording.names.path(1))
        let replay = try VirtualReplay(.recording(file), settings: settings)
        let log = TapeLog()
        let order = VirtualReplay.Order(symbols: ["A"], source: .replay(file: "test", speed: 1), epoch: 9)
        _ = try replay.run(order, readers: [log])
        return log.contents
    }

    @Test("each is on the tape where it was, with its times, marked as the recording's, at every speed")
    func reported() throws {
        let reported = try self.play()
        #expect(reported.order == ["read 1", "read 1", "gap", "read 1", "gap", "read 1", "gap", "read 1"])
        #expect(reported.gaps.map(\.reason) == ["lost", "quiet", "the end"].map { "in the recording: \($0)" })
        #expect(reported.gaps.allSatisfy { $0.cause == .recorded && $0.epoch == 9 && $0.overlap == 2 })
        #expect(reported.gaps.allSatisfy { $0.overlapBounds == OverlapBounds(least: 1, most: 3) })
        // The numbers are those of the tape on which the gaps are reported.
        #expect(reported.gaps.map(\.nextSequence) == [3, 4, 5] && reported.gaps.map(\.symbol) == [nil, "A", nil])
        #expect(
            reported.gaps.first.map { [$0.from, $0.to] } == [
                Self.gap(900, 3_000, "").from, Self.gap(900, 3_000, "").to,
            ]
        )
        #expect(reported.frames.count == 5)
        for speed in [0.5, 100, nil] as [Double?] {
            let again = try self.play { $0.machine.speed = speed }
            #expect(again.order == reported.order && again.gaps == reported.gaps, "\(speed ?? .infinity)")
        }
        // A gap does not interrupt a skipped silence.
        let hasty = try self.play { $0.machine.longestSilence = 1_000_000_000 }
        #expect(hasty.order == reported.order && hasty.gaps == reported.gaps)
    }

    @Test("those outside of the part that is played are not; where connections break only those of single symbols are")
    func parts() throws {
        let part = try self.play {
            $0.from = .offset(3_200_000_000)
            $0.to = .offset(5_000_000_000)
        }
        #expect(part.gaps.map(\.symbol) == ["A"] && part.trades.count == 1)
        let broken = try self.play { $0.hasBreaks = true }
        #expect(broken.gaps.filter { $0.cause == .recorded }.map(\.symbol) == ["A"], "\(broken.gaps)")
    }

    @Test("times that a hostile file gives a gap are bounded, with and without breaks of the connection")
    func hostileTimes() throws {
        let farthest: Int64 = .max / 1_000 * 1_000
        let most: Int64 = (1 << 53) * 1_000
        for (from, to, reported) in [
            (-farthest, farthest, [0, most]), (farthest, -farthest, [most, most]), (-farthest, -farthest, [0, 0]),
        ] {
            var gap = Self.gap(0, 0, "lost")
            gap.from = from
            gap.to = to
            let lines: [SegmentedRecording.Line] = [
                .trade(at: 0, number: 0), .gap(gap, at: 1_000), .trade(at: 2_000, number: 1),
            ]
            let played = try self.play(lines)
            #expect(played.gaps.map { [$0.from, $0.to] } == [reported] && played.frames.count == 2, "\(from) \(to)")
            #expect(try self.play(lines, { $0.hasBreaks = true }).frames.count >= 1, "\(from) \(to)")
        }
    }

    @Test("a trade that was ahead when it was recorded is so in a replay, at every speed, and no other is")
    func ahead() throws {
        func frame(_ price: Int, _ milliseconds: [Int]) -> String {
            let trades = milliseconds.map {
                #"{"c":null,"p":\#(price),"s":"A","t":\#(Int(ReplayRecording.start) / 1_000_000 + $0),"v":1}"#
            }
            return #"{"data":[\#(trades.joined(separator: ","))],"type":"trade"}"#
        }
        let lines: [SegmentedRecording.Line] = [
            .frame(frame(1, [900]), at: 1_000), .frame(frame(2, [1_900, 62_000, 1_950]), at: 2_000),
            .frame(frame(3, [2_990]), at: 3_000), .frame(frame(4, [7_200_000_000_000]), at: 4_000),
            .frame(frame(5, [4_900]), at: 5_000),
        ]
        for speed in [1, 100, nil] as [Double?] {
            let played = try self.play(lines) { $0.machine.speed = speed }
            #expect(played.trades.map { $0.marks == [.ahead] } == [false, false, true, false, false, true, false])
            #expect(played.trades[5].exchangeTime == ReplayRecording.start + 7_200_000_000_000_000_000)
        }
        // A machine with a clock 30 s behind: the marks are those of the recording program.
        let behind = (0..<40).map { step in
            SegmentedRecording.Line.frame(frame(step + 1, [30_000 + step * 1_000]), at: step * 1_000)
        }
        let marks = try self.play(behind).trades.map(\.marks)
        #expect(marks.count == 40 && !marks[10...].contains([.ahead]))
    }

    @Test("a long reason is cut to its first thousand bytes, at whole Unicode scalars")
    func longReason() throws {
        for letter in ["e" + String(repeating: "\u{301}", count: 9_000), "\u{1}", "😀"] {
            let reason = "x" + String(repeating: letter, count: 2_000 / letter.unicodeScalars.count + 1)
            let lines: [SegmentedRecording.Line] = [
                .trade(at: 0, number: 0), .gap(Self.gap(0, 900, reason), at: 900), .trade(at: 1_000, number: 1),
            ]
            let reported = try #require(try self.play(lines).gaps.first?.reason)
            let words = String(reported.dropFirst("in the recording: ".count))
            #expect((990...1_000).contains(words.utf8.count))
            #expect(reason.unicodeScalars.starts(with: words.unicodeScalars))
        }
    }
}
