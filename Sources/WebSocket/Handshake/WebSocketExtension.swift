/// One element of a `Sec-WebSocket-Extensions` header (RFC 6455, 9.1).
struct WebSocketExtension: Sendable, Equatable {
    struct Parameter: Sendable, Equatable {
        var name: String
        /// The value without quotes and backslashes; `nil` where the parameter has none.
        var value: String?
    }

    var name: String
    var parameters: [Parameter] = []

    /// Reads the values of all headers of that name, in order, as one list. `nil` when they violate the grammar; then
    /// the handshake must fail (RFC 6455, 9.1). Empty elements are skipped (RFC 9110, 5.6.1.2).
    static func list(_ values: [String]) -> [WebSocketExtension]? {
        var list: [WebSocketExtension] = []
        for value in values {
            var reader = ExtensionReader(bytes: Array(value.utf8))
            guard reader.readList(into: &list) else { return nil }
        }
        return list
    }
}

/// A parser for the grammar of RFC 6455, 9.1, with blanks allowed between tokens (RFC 2616, 2.1).
private struct ExtensionReader {
    let bytes: [UInt8]
    private var index = 0

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    private var next: UInt8? { self.index < self.bytes.count ? self.bytes[self.index] : nil }

    mutating func readList(into list: inout [WebSocketExtension]) -> Bool {
        while true {
            self.skipBlanks()
            if self.next == nil { return true }
            if self.take(",") { continue }
            guard let element = self.readExtension() else { return false }
            list.append(element)
            guard self.next == nil || self.take(",") else { return false }
        }
    }

    private mutating func readExtension() -> WebSocketExtension? {
        guard let name = self.readToken() else { return nil }
        var element = WebSocketExtension(name: name)
        self.skipBlanks()
        while self.take(";") {
            self.skipBlanks()
            guard let name = self.readToken() else { return nil }
            var parameter = WebSocketExtension.Parameter(name: name)
            self.skipBlanks()
            if self.take("=") {
                self.skipBlanks()
                guard let value = self.next == UInt8(ascii: "\"") ? self.readQuoted() : self.readToken() else {
                    return nil
                }
                parameter.value = value
                self.skipBlanks()
            }
            element.parameters.append(parameter)
        }
        return element
    }

    private mutating func readToken() -> String? {
        let rest = self.bytes[self.index...]
        let token = rest.prefix { HTTPHeadParser.isToken(CollectionOfOne($0)) }
        self.index = token.endIndex
        return token.isEmpty ? nil : String(decoding: token, as: Unicode.UTF8.self)
    }

    /// Reads a quoted string, whose content must be a token.
    private mutating func readQuoted() -> String? {
        var plain: [UInt8] = []
        self.index += 1
        while var byte = self.next {
            self.index += 1
            if byte == UInt8(ascii: "\"") {
                return HTTPHeadParser.isToken(plain) ? String(decoding: plain, as: Unicode.UTF8.self) : nil
            }
            if byte == UInt8(ascii: "\\") {
                guard let escaped = self.next else { return nil }
                byte = escaped
                self.index += 1
            }
            plain.append(byte)
        }
        return nil
    }

    private mutating func skipBlanks() {
        while let byte = self.next, byte == 0x20 || byte == 0x09 { self.index += 1 }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard self.next == UInt8(ascii: character) else { return false }
        self.index += 1
        return true
    }
}
