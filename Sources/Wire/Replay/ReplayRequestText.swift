package import Market
package import NIOCore

/// The JSON form of requests to a replay: the body of `POST /v1/replay`, and with `"type":"replay"` a message on
/// `/v1/stream`.
package enum ReplayRequestText {
    private struct Fields {
        var request: String?
        var speed: String?
        var messages: Int?
        var time: String?
        var place: String?
    }

    private static let known = "pause, resume, toggle, speed, faster, slower, step or seek"

    /// Reads a request; unknown members are ignored.
    ///
    /// - Parameter position: the replay's current position, for places relative to it.
    package static func parse(_ text: ByteBuffer, position: ReplayPosition) throws(ReplayRefusal) -> ReplayRequest {
        guard let fields = text.withUnsafeReadableBytes({ Self.fields($0) }) else {
            throw ReplayRefusal(#"not a request; send {"request":"pause"}"#)
        }
        switch fields.request {
        case "pause": return .pause
        case "resume": return .resume
        case "toggle": return .togglePause
        case "faster": return .faster
        case "slower": return .slower
        case "speed":
            if fields.speed == "max" { return .speed(nil) }
            guard let speed = fields.speed.flatMap(Double.init), ReplayRequest.speeds.contains(speed) else {
                throw ReplayRefusal(#"speed must be 0.01 to 10000, or "max""#)
            }
            return .speed(speed)
        case "step":
            if let time = fields.time {
                let isBack = time.hasPrefix("-")
                guard let distance = ReplayPlaceText.duration(time.dropFirst(isBack ? 1 : 0)), distance > 0 else {
                    throw ReplayRefusal(#"time must be how far to step, such as "1s", "250ms" or "-10s""#)
                }
                return .stepTime(isBack ? -distance : distance)
            }
            return .stepMessages(fields.messages ?? 1)
        case "seek":
            guard let text = fields.place else { throw ReplayRefusal("seek needs a place in `to`") }
            guard let place = ReplayPlaceText.parse(text, start: position.start, at: position.at) else {
                throw ReplayRefusal("to must be \(ReplayPlaceText.forms)")
            }
            return .seek(place)
        case .some(let other):
            throw ReplayRefusal("unknown request \"\(other.prefix(32))\"; use \(Self.known)")
        case nil:
            throw ReplayRefusal("`request` is missing; it is \(Self.known)")
        }
    }

    private static func fields(_ bytes: UnsafeRawBufferPointer) -> Fields? {
        var fields = Fields()
        let isWhole = JSONReader.wholeObject(bytes) { key, reader in
            let kind = reader.kind()
            if kind == .string {
                guard let value = reader.string()?.text else { return false }
                if key.equals("request") { fields.request = value }
                if key.equals("speed") { fields.speed = value }
                if key.equals("time") { fields.time = value }
                if key.equals("to") { fields.place = value }
            } else if kind == .number, key.equals("speed") {
                guard let value = reader.rawValue() else { return false }
                fields.speed = String(decoding: value, as: UTF8.self)
            } else if kind == .number, key.equals("messages") {
                // A number that is not whole is refused as a step of zero messages.
                fields.messages = reader.integer().flatMap { Int(exactly: $0) } ?? 0
            } else {
                return reader.skipValue()
            }
            return true
        }
        return isWhole ? fields : nil
    }
}
