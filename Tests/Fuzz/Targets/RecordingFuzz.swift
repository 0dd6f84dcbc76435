import Market
import NIOCore
import Recordings
import Wire

/// The rules for the reader of recordings.
enum RecordingFuzz {
    /// A small limit, so that many lines exceed it.
    private static let lineLimit = 1_024

    static let seeds: [[UInt8]] = {
        var whole = ByteBuffer()
        for (index, frame) in FinnhubSeeds.frames.prefix(6).enumerated() {
            RecordingSyntax.plainFrame(ByteBuffer(string: frame), at: Int64(index) * 1_000, into: &whole)
        }
        let lines = [
            #"{"frame":"{\"type\":\"ping\"}","at":5,"more":[1,{"a":null}]}"#,
            #"{"event":"gap","mono":3,"from":1,"to":2}"#, "",
            "{\"at\":1,\"frame\":\"\\ud83d\\ude00\\u0000\"}\r", #"{"at":1.5,"frame":"x"}"#, #"{"at":-1,"frame":"x"}"#,
        ]
        return [
            Array(whole.readableBytesView), Array(lines.joined(separator: "\n").utf8),
            Array(Self.current.readableBytesView),
        ]
    }()

    /// A recording with lines of every kind.
    static let current: ByteBuffer = {
        var text = ByteBuffer()
        var header = RecordingHeader(program: "0.1.0", symbols: ["BINANCE:BTCUSDT"], start: 1, epoch: 3)
        header.monotonic = 5
        header.first = 1
        RecordingSyntax.header(header, into: &text)
        var stamp = RecordingSyntax.Stamp(number: 0, wall: 1_767_225_600_000_000_000, at: 0)
        for (index, frame) in FinnhubSeeds.frames.prefix(4).enumerated() {
            stamp.number += 1
            stamp.at += 1_000
            let numbers = RecordedNumbers(first: UInt64(index), count: index, leftOut: index > 2 ? [0, 2] : [])
            RecordingSyntax.frame(ByteBuffer(string: frame), stamp, numbers: numbers, into: &text)
        }
        let gap = Gap(from: 1_000, to: 2_000, reason: "r", nextSequence: 4, epoch: 3, overlap: 1, symbol: "A")
        stamp.number += 1
        RecordingSyntax.gap(gap, stamp, into: &text)
        stamp.number += 1
        RecordingSyntax.gap(gap, dropped: 9, stamp, into: &text)
        for kind in RecordedNote.Kind.allCases {
            stamp.number += 1
            var note = RecordedNote(kind, direction: .outgoing, word: "w")
            note.frame = ByteBuffer(string: "{}")
            if kind == .mark {
                note.stops = GapMarkers(count: 1, lastTrade: -2)
                note.wallClocks = WallClockMarks(latest: 1_767_225_600_000_000, back: 3)
            }
            RecordingSyntax.note(note, stamp, into: &text)
        }
        return text
    }()

    static func check(_ input: [UInt8]) throws(FuzzFinding) -> Bool {
        let whole = Self.read([input])
        let cut = Self.read(input.pieces)
        try FuzzFinding.require(whole == cut, "whole it is \(whole), in pieces \(cut)")
        try Self.checkLines(input)
        var line = 0
        for found in whole {
            try FuzzFinding.require(found.line > line, "line \(found.line) behind \(line)")
            line = found.line
            if let frame = found.frame {
                try FuzzFinding.require(frame.at >= 0, "a frame at \(frame.at)")
                try Self.again(frame)
            }
            if case .torn = found.content {
                let offset = found.offset
                try FuzzFinding.require(offset >= 0 && offset < input.count, "torn at \(offset)")
            }
        }
        return whole.contains { $0.frame != nil }
    }

    /// Every line that was read is at its reported position and has a valid checksum, and it is unchanged after writing
    /// and reading.
    private static func checkLines(_ input: [UInt8]) throws(FuzzFinding) {
        var reader = RecordingParser(maximumLineBytes: Self.lineLimit)
        reader.feed(ByteBuffer(bytes: input))
        reader.finish()
        var check = RecordingCheck()
        var end: Int64 = 0
        while let line = reader.nextLine() {
            try FuzzFinding.require(line.offset >= end, "line \(line.line) at \(line.offset), before \(end)")
            end = line.offset + Int64(line.length)
            try FuzzFinding.require(end <= Int64(input.count), "line \(line.line) ends at \(end)")
            check.take(line)
            guard let number = line.number, let at = line.at, at >= 0 else { continue }
            var again = ByteBuffer()
            let stamp = RecordingSyntax.Stamp(number: number, wall: 0, at: at)
            switch line.content {
            case .frame(let frame, let numbers, let dialect):
                RecordingSyntax.frame(frame, of: dialect, stamp, numbers: numbers, into: &again)
            case .gap(let gap, let dropped):
                RecordingSyntax.gap(gap, dropped: dropped, stamp, into: &again)
            case .note(let note): RecordingSyntax.note(note, stamp, into: &again)
            case .header, .unknown, .damaged, .torn, .unreadable: continue
            }
            var second = RecordingParser()
            second.feed(again)
            second.finish()
            let found = second.nextLine()
            try FuzzFinding.require(found?.content == line.content, "written again it is \(String(describing: found))")
        }
    }

    private static func read(_ pieces: [[UInt8]]) -> [RecordedLine] {
        var reader = RecordingParser(maximumLineBytes: Self.lineLimit)
        var lines: [RecordedLine] = []
        for piece in pieces {
            reader.feed(ByteBuffer(bytes: piece))
            while let line = reader.nextLine() { lines.append(line) }
        }
        reader.finish()
        while let line = reader.nextLine() { lines.append(line) }
        return lines
    }

    /// Writes a frame and reads it again; it must be unchanged.
    private static func again(_ frame: RecordedFrame) throws(FuzzFinding) {
        var text = ByteBuffer()
        RecordingSyntax.plainFrame(frame.frame, at: frame.at, into: &text)
        var reader = RecordingParser()
        reader.feed(text)
        reader.finish()
        let line = reader.nextLine()
        try FuzzFinding.require(
            line?.frame == RecordedFrame(line: 1, at: frame.at, frame: frame.frame),
            "written again it is \(String(describing: line))"
        )
    }
}
