import NIOCore

/// One line of a recording.
enum RecordingLine {
    /// A frame, which was written to the caller's buffer.
    case frame(at: Int64)
    case header(RecordingHeader)
    case blank
    /// A JSON object with neither a frame nor a header in it.
    case other
    case damaged(reason: String)

    /// Reads one line without its end.
    static func parse(_ line: UnsafeRawBufferPointer, frame: inout ByteBuffer) -> RecordingLine {
        var reader = JSONReader(line)
        if reader.isAtEnd() { return .blank }
        guard reader.take(UInt8(ascii: "{")) else { return .damaged(reason: "no JSON object") }
        var at: Int64?
        var text: JSONString?
        var header: RecordingHeader?
        var program: String?
        var start: Int64?
        var symbols: [String] = []
        var isFirst = true
        members: while true {
            switch reader.nextMember(isFirst: &isFirst) {
            case .end: break members
            case .invalid: return .damaged(reason: "broken JSON object")
            case .key(let key):
                let kind = reader.kind()
                if key.equals("at"), kind == .number {
                    at = reader.integer()
                } else if key.equals("frame"), kind == .string {
                    text = reader.string()
                    if text == nil { return .damaged(reason: "broken string") }
                } else if key.equals("tickertape"), kind == .number {
                    header = reader.integer().flatMap { Int(exactly: $0) }.map { RecordingHeader(version: $0) }
                } else if key.equals("program"), kind == .string {
                    program = reader.string()?.text
                } else if key.equals("start"), kind == .number {
                    start = reader.integer()
                } else if key.equals("symbols"), kind == .array {
                    guard let names = reader.strings(atMost: 4_096) else { return .damaged(reason: "broken list") }
                    symbols = names
                } else {
                    guard reader.skipValue() else { return .damaged(reason: "broken JSON value") }
                }
            }
        }
        guard reader.isAtEnd() else { return .damaged(reason: "bytes behind the JSON object") }
        if var header {
            header.program = program
            header.start = start
            header.symbols = symbols
            return .header(header)
        }
        guard let text else { return .other }
        guard let at, at >= 0 else { return .damaged(reason: "a frame without its time") }
        frame.clear(minimumCapacity: text.raw.count)
        frame.writeWithUnsafeMutableBytes(minimumWritableBytes: text.raw.count) {
            JSONString.unescape(text.raw, into: $0)
        }
        return .frame(at: at)
    }
}
