import NIOCore
import Wire

/// The encoder of WAMP's JSON messages (WAMP, 2.2.1).
enum WAMPJSONEncoder {
    static func write(_ value: WAMPValue, into buffer: inout ByteBuffer) {
        switch value {
        case .null: buffer.writeStaticString("null")
        case .bool(let bool): buffer.writeStaticString(bool ? "true" : "false")
        case .integer(let integer): JSONText.write(integer, into: &buffer)
        case .large(let integer): JSONText.write(integer, into: &buffer)
        case .decimal(let digits): buffer.writeString(digits)
        // Swift describes every finite double as a JSON number; JSON has no others.
        case .double(let double): buffer.writeString(double.isFinite ? double.description : "null")
        case .text(let text): JSONText.escape(text, into: &buffer)
        case .bytes(let bytes):
            buffer.writeStaticString("\"\\u0000")
            Base64.write(bytes.readableBytesView, into: &buffer)
            buffer.writeStaticString("\"")
        case .list(let values):
            buffer.writeStaticString("[")
            for (index, value) in values.enumerated() {
                if index > 0 { buffer.writeStaticString(",") }
                Self.write(value, into: &buffer)
            }
            buffer.writeStaticString("]")
        case .dictionary(let dictionary):
            buffer.writeStaticString("{")
            for (index, entry) in dictionary.entries.enumerated() {
                if index > 0 { buffer.writeStaticString(",") }
                JSONText.escape(entry.key, into: &buffer)
                buffer.writeStaticString(":")
                Self.write(entry.value, into: &buffer)
            }
            buffer.writeStaticString("}")
        case .json(let json): buffer.writeImmutableBuffer(json)
        }
    }

    /// Returns the value of JSON that this program has written itself.
    static func value(ofOwn json: ByteBuffer) -> WAMPValue {
        do throws(WAMPCodingFault) {
            return try WAMPJSONDecoder.decode(json, readsBytes: false)
        } catch {
            preconditionFailure("a message of the relay is not JSON: \(error)")
        }
    }
}
