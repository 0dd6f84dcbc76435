import NIOCore

/// The payload of a close frame (RFC 6455, 5.5.1).
struct CloseFrame: Equatable {
    /// The largest reason that fits a control frame behind the code, in bytes.
    static let maximumReasonBytes = 123

    var code: WebSocketCloseCode?
    var reason: String

    /// Reads a payload: an empty one, or a code that may be sent and a reason in UTF-8.
    static func parse(_ payload: ByteBuffer) -> Result<CloseFrame, WebSocketViolation> {
        var payload = payload
        guard payload.readableBytes > 0 else { return .success(CloseFrame(code: nil, reason: "")) }
        guard let code = payload.readInteger(as: UInt16.self).map(WebSocketCloseCode.init(rawValue:)), code.mayBeSent
        else { return .failure(.invalidClose) }
        var validator = UTF8Validator()
        guard payload.withUnsafeReadableBytes({ validator.consume($0) }), validator.isAtBoundary else {
            return .failure(.invalidCloseReason)
        }
        return .success(CloseFrame(code: code, reason: String(buffer: payload)))
    }

    /// Returns the payload. A reason that is too long is cut at the boundary of a Unicode scalar.
    func encoded(allocator: ByteBufferAllocator) -> ByteBuffer {
        guard let code = self.code else { return ByteBuffer() }
        var reason = Substring(self.reason)
        while reason.utf8.count > Self.maximumReasonBytes {
            var cut = reason.utf8.index(reason.startIndex, offsetBy: Self.maximumReasonBytes)
            while cut.samePosition(in: self.reason.unicodeScalars) == nil { cut = reason.utf8.index(before: cut) }
            reason = reason[..<cut]
        }
        var payload = allocator.buffer(capacity: 2 + reason.utf8.count)
        payload.writeInteger(code.rawValue)
        payload.writeSubstring(reason)
        return payload
    }
}
