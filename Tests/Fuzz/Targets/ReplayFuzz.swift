import Feeds
import Market
import MockUpstream
import NIOCore
import Wire

/// The rules for requests to a replay, as the body of `POST /v1/replay` and as a message on `/v1/stream`.
///
/// Each line of an input is one request, and all lines go to the same replay.
enum ReplayFuzz {
    /// A realistic replay, and those that a damaged or hostile recording can produce.
    private static let worlds: [(start: Int64, bounds: ClosedRange<Int64>)] = [
        (1_795_239_000_000_000_000, 0...86_400_000_000_000), (0, 5...9_000_000_000), (0, 0...0), (.max, 0...(.max)),
        (.min, .min...(.max)), (1_795_239_000_000_000_000, .min...(-1)),
    ]
    private static let step: Int64 = 250_000_000

    static let seeds: [[UInt8]] = [
        [
            #"{"request":"pause"}"#, #"{"request":"step","messages":3}"#, #"{"request":"step","messages":-2}"#,
            #"{"request":"resume"}"#,
        ],
        [
            #"{"type":"replay","request":"step","messages":-9223372036854775808}"#,
            #"{"type":"replay","request":"toggle"}"#,
        ],
        [#"{"request":"step","time":"1s"}"#, #"{"request":"step","time":"-10s"}"#, #"{"request":"faster"}"#],
        [#"{"request":"speed","speed":2.5}"#, #"{"request":"speed","speed":"max"}"#, #"{"request":"slower"}"#],
        [
            #"{"request":"seek","to":"50%"}"#, #"{"request":"seek","to":"next-gap"}"#,
            #"{"request":"seek","to":"-10s"}"#,
            #"{"request":"seek","to":"00:01:30"}"#, #"{"request":"seek","to":"2026-01-01T00:01:30Z"}"#,
            #"{"request":"seek","to":"1m30s"}"#, #"{"request":"seek","to":"1795239000000"}"#,
        ],
    ].map { Array($0.joined(separator: "\n").utf8) }

    static let words: [[UInt8]] =
        Mutator.jsonWords
        + [
            "\n", "\"request\":", "\"messages\":", "\"speed\":", "\"time\":", "\"to\":", "\"step\"", "\"seek\"",
            "\"speed\"",
            "\n{\"request\":\"pause\"}\n", "\n{\"request\":\"step\",\"messages\":2}\n", "\"max\"",
            "-9223372036854775808",
            "9223372036854775807", "100000", "100001", "-100000", "1e18", "0.01", "10000", "%", "100%", "+", "-", "d",
            "h",
            "m", "s", "ms", "30y", "99999999999", "2200-12-31", "1970-01-01", "23:59:59.999999999", "gap", "z", "T",
        ].map { Array($0.utf8) }

    static func check(_ input: [UInt8]) throws(FuzzFinding) -> Bool {
        var isRequest = false
        for world in Self.worlds {
            for speed in [1, nil] as [Double?] {
                let machine = ReplayMachine(ReplayMachine.Settings(speed: speed), bounds: world.bounds)
                let found = try Self.ask(input, machine, start: world.start)
                isRequest = found || isRequest
            }
        }
        return isRequest
    }

    private static func ask(
        _ input: [UInt8],
        _ machine: ReplayMachine,
        start: Int64
    ) throws(FuzzFinding) -> Bool {
        var machine = machine
        var now: Int64 = 1_000
        var place = machine.bounds.lowerBound
        var isRequest = false
        for line in input.split(separator: UInt8(ascii: "\n")) {
            now += Self.step
            var body = ByteBuffer(bytes: line)
            // A client of `/v1/stream` sends the same object with a type.
            if case .replay(let text) = StreamRequest.parse(body) { body = text }
            let position = machine.position(start: start, now: now)
            try Self.judge(position)
            let request: ReplayRequest
            do throws(ReplayRefusal) {
                request = try ReplayRequestText.parse(body, position: position)
            } catch {
                try Self.judge(error)
                continue
            }
            isRequest = true
            switch machine.requested(request, start: start, now: now) {
            case .refuse(let refusal): try Self.judge(refusal)
            case .none, .changed, .findGap: break
            case .seek(let time, let pauses):
                try FuzzFinding.require(machine.bounds.contains(time), "a seek to \(time) of \(machine.bounds)")
                machine.jumped(to: time, pauses: pauses, now: now)
                place = time
            case .goBack(let messages):
                let isSane = (1...ReplayRequest.maximumMessages).contains(messages)
                try FuzzFinding.require(isSane, "back by \(messages) messages")
                place = machine.bounds.lowerBound
                machine.wentBack(to: place, now: now)
            }
            // Three messages, each a second of the recording apart.
            for _ in 0..<3 {
                guard case .play = machine.next(recorded: place, now: now) else { break }
                machine.played(recorded: place, now: now)
                place = min(place.addingCapped(1_000_000_000), machine.bounds.upperBound)
            }
            try Self.judge(machine.position(start: start, now: now))
        }
        _ = machine.reachedEnd(now: now)
        return isRequest
    }

    private static func judge(_ position: ReplayPosition) throws(FuzzFinding) {
        let isSane = position.start <= position.at && position.at <= position.end
        try FuzzFinding.require(isSane && (0...100).contains(position.percent), "\(position)")
        _ = StreamMessage.parse(StreamEncoder.replay(position))
    }

    private static func judge(_ refusal: ReplayRefusal) throws(FuzzFinding) {
        let words = refusal.description
        try FuzzFinding.require(words.utf8.count < 512 && !words.isEmpty, "a refusal of \(words.utf8.count) bytes")
    }
}
