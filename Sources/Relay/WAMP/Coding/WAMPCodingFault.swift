/// The fault of bytes that are no valid value of a serialisation.
enum WAMPCodingFault: Error, Equatable {
    /// The bytes end within a value, or a length is larger than the rest.
    case cutShort
    /// Bytes follow the value.
    case trailingBytes
    /// The containers are nested more deeply than ``WAMPValue/maximumDepth``.
    case tooDeep
    /// A text is not UTF-8.
    case notUTF8
    /// A key of a dictionary is not a text.
    case keyIsNotText
    /// The bytes are not of the serialisation, or a value of a kind that WAMP does not have.
    case malformed

    /// The fault for people.
    var words: String {
        switch self {
        case .cutShort: "the message is cut short"
        case .trailingBytes: "bytes follow the message"
        case .tooDeep: "the message is nested too deeply"
        case .notUTF8: "a text is not UTF-8"
        case .keyIsNotText: "a key is not a text"
        case .malformed: "the message cannot be read"
        }
    }
}
