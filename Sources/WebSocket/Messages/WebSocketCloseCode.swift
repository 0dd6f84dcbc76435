/// The status code of a close frame (RFC 6455, 7.4).
package struct WebSocketCloseCode: RawRepresentable, Hashable, Sendable {
    package var rawValue: UInt16

    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    package static let normal = WebSocketCloseCode(rawValue: 1000)
    package static let goingAway = WebSocketCloseCode(rawValue: 1001)
    package static let protocolError = WebSocketCloseCode(rawValue: 1002)
    package static let unsupported = WebSocketCloseCode(rawValue: 1003)
    package static let invalidText = WebSocketCloseCode(rawValue: 1007)
    package static let policy = WebSocketCloseCode(rawValue: 1008)
    package static let tooBig = WebSocketCloseCode(rawValue: 1009)
    package static let internalError = WebSocketCloseCode(rawValue: 1011)
    package static let tryAgainLater = WebSocketCloseCode(rawValue: 1013)

    /// Whether the code is allowed in a close frame: the registered codes (RFC 6455, 7.4.1 and IANA), and the ranges
    /// for libraries (3000 to 3999) and private use (4000 to 4999). 1004, 1005, 1006 and 1015 are never sent.
    package var mayBeSent: Bool {
        switch self.rawValue {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}

extension WebSocketCloseCode: CustomStringConvertible {
    package var description: String { String(self.rawValue) }
}
