import NIOCore
import Wire

/// The rules for the reader of recordings.
enum RecordingFuzz {
    /// A small limit, so that lines beyond it come often.
    private static let lineLimit = 1_024

    static let seeds: [[UInt8]] = {
        var whole = ByteBuffer()
        RecordingEncoder.header(RecordingHeader(program: "0.1.0", symbols: ["BINANCE:BTCUSDT"], start: 1), into: &whole)
        for (index, frame) in FinnhubSeeds.frames.prefix(6).enumerated() {
            RecordingEncoder.frame(ByteBuffer(string: frame), at: Int64(index) * 1_000, into: &whole)
        }
        let lines = [
            #"{"frame":"{\"type\":\"ping\"}","at":5,"more":[1,{"a":null}]}"#, #"{"gap":{"from":1,"to":2}}"#, "",
            "{\"at\":1,\"frame\":\"\\ud83d\\ude00\\u0000\"}\r", #"{"at":1.5,"frame":"x"}"#, #"{"at":-1,"frame":"x"}"#,
        ]
        return [Array(whole.readableBytesView), Array(lines.joined(separator: "\n").utf8)]
    }()

    static func check(_ input: [UInt8]) throws(FuzzFinding) -> Bool {
        let whole = Self.read([input])
        let cut = Self.read(input.pieces)
        try FuzzFinding.require(whole == cut, "whole it is \(whole), in pieces \(cut)")
        var line = 0
        for event in whole {
            switch event {
            case .header: break
            case .frame(let frame):
                try FuzzFinding.require(frame.line > line && frame.at >= 0, "line \(frame.line) behind \(line)")
                line = frame.line
                try Self.again(frame)
            case .gap(let gap):
                try FuzzFinding.require(gap.line > line, "line \(gap.line) behind \(line)")
                line = gap.line
            case .damaged(let number, _):
                try FuzzFinding.require(number > line, "line \(number) behind \(line)")
                line = number
            case .torn(let number, let offset):
                try FuzzFinding.require(number > line && offset >= 0 && offset < input.count, "torn at \(offset)")
                line = number
            }
        }
        return whole.contains {
            if case .frame = $0 { true } else { false }
        }
    }

    private static func read(_ pieces: [[UInt8]]) -> [RecordingEvent] {
        var reader = RecordingReader(maximumLineBytes: Self.lineLimit)
        var events: [RecordingEvent] = []
        for piece in pieces {
            reader.feed(ByteBuffer(bytes: piece))
            while let event = reader.next() { events.append(event) }
        }
        reader.finish()
        while let event = reader.next() { events.append(event) }
        return events
    }

    /// A frame written again is read as the same frame.
    private static func again(_ frame: RecordedFrame) throws(FuzzFinding) {
        var line = ByteBuffer()
        RecordingEncoder.frame(frame.frame, at: frame.at, into: &line)
        var reader = RecordingReader()
        reader.feed(line)
        reader.finish()
        let event = reader.next()
        try FuzzFinding.require(
            event == .frame(RecordedFrame(line: 1, at: frame.at, frame: frame.frame)),
            "written again it is \(String(describing: event))"
        )
    }
}
