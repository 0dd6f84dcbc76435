import Market
import NIOCore
import Wire

/// What a client submits to a room: a message, the name of its user, or both. Its texts are checked.
struct RoomSubmission: Equatable {
    let text: String?
    let user: RoomUserName?

    /// - Throws: ``RoomFault`` if there is neither, or one of them is not allowed.
    init(message: String? = nil, user: String? = nil) throws(RoomFault) {
        guard message != nil || user != nil else { throw .invalidMessage }
        if let message { try Self.check(message) }
        if let user { self.user = try RoomUserName(user) } else { self.user = nil }
        self.text = message
    }

    /// Reads `{"message":"…","user":"…"}`. Other members are ignored.
    ///
    /// - Throws: ``RoomFault``.
    init(_ json: ByteBuffer) throws(RoomFault) {
        var message: String?
        var user: String?
        let isObject = json.withUnsafeReadableBytes { bytes in
            JSONReader.wholeObject(bytes) { key, reader in
                let isMessage = key.equals("message")
                guard isMessage || key.equals("user") else { return reader.skipValue() }
                // A value of another kind is treated as an empty text, which is refused by name.
                var text: String? = ""
                switch reader.kind() {
                case .string:
                    guard let string = reader.string() else { return false }
                    text = string.text
                case .literal:
                    guard let first = reader.literal() else { return false }
                    if first == UInt8(ascii: "n") { text = nil }
                case .object, .array, .number, .invalid:
                    guard reader.skipValue() else { return false }
                }
                if isMessage { message = text } else { user = text }
                return true
            }
        }
        guard isObject else { throw .invalidMessage }
        try self.init(message: message, user: user)
    }

    /// Checks the text of a message.
    static func check(_ text: String) throws(RoomFault) {
        guard text.utf8.count <= RoomLimits.messageBytes else { throw .longMessage }
        var isEmpty = true
        for scalar in text.unicodeScalars {
            // Joiners and variation selectors are not shown alone.
            guard let form = PrintableText.form(of: scalar) else { continue }
            guard form == scalar || form == " " else {
                throw .badMessage("has a control character, or another one that is not shown")
            }
            if !scalar.isShownBlank { isEmpty = false }
        }
        if isEmpty { throw .badMessage("is empty") }
    }
}
