import NIOCore

/// A header block violates ADR-4.
struct MalformedHeaders: Error, Equatable {}

/// The headers of a message (ADR-4), in their order, with repeats. Names keep their case, and a lookup respects it.
package struct NATSHeaders: Sendable, Equatable {
    package struct Field: Sendable, Equatable {
        package var name: String
        package var value: String
    }

    /// The status that a server puts in the place of a payload, such as 503 for a request without a responder.
    package struct Status: Sendable, Equatable {
        package var code: Int
        /// Its text; may be empty.
        package var description: String
    }

    package private(set) var fields: [Field] = []
    package private(set) var status: Status?

    package init() {}

    package var isEmpty: Bool { self.fields.isEmpty && self.status == nil }

    /// Adds a field behind the others; `false` if the name or the value cannot be sent (ADR-4: printable ASCII without
    /// a colon; no CR or LF).
    @discardableResult
    package mutating func add(_ name: String, _ value: String) -> Bool {
        let trimmed = Self.trimmed(Substring(value).utf8)
        guard Self.isName(name.utf8), !value.utf8.contains(where: { $0 == 0x0D || $0 == 0x0A || $0 == 0 }) else {
            return false
        }
        self.fields.append(Field(name: name, value: String(Substring(trimmed))))
        return true
    }

    /// The first value of a name.
    package subscript(name: String) -> String? { self.fields.first { $0.name == name }?.value }

    /// All values of a name.
    package func values(of name: String) -> [String] { self.fields.filter { $0.name == name }.map(\.value) }

    // MARK: Bytes

    private static let version: StaticString = "NATS/1.0"

    /// Writes the block with the blank line that ends it.
    func write(into buffer: inout ByteBuffer) {
        buffer.writeStaticString(Self.version)
        if let status = self.status {
            buffer.writeString(" \(status.code)")
            if !status.description.isEmpty { buffer.writeString(" \(status.description)") }
        }
        buffer.writeStaticString("\r\n")
        for field in self.fields {
            buffer.writeString(field.name)
            buffer.writeStaticString(": ")
            buffer.writeString(field.value)
            buffer.writeStaticString("\r\n")
        }
        buffer.writeStaticString("\r\n")
    }

    /// The length of the block, in bytes.
    var byteCount: Int {
        var count = Self.version.utf8CodeUnitCount + 4
        if let status = self.status {
            count += 4 + (status.description.isEmpty ? 0 : 1 + status.description.utf8.count)
        }
        return self.fields.reduce(count) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
    }

    /// Reads a whole block.
    init(_ block: ByteBuffer) throws(MalformedHeaders) {
        var bytes = String(decoding: block.readableBytesView, as: UTF8.self).utf8[...]
        guard bytes.starts(with: "NATS/1.0".utf8) else { throw MalformedHeaders() }
        bytes = bytes.dropFirst(Self.version.utf8CodeUnitCount)
        self.status = try Self.status(in: Self.line(&bytes))
        while true {
            let line = try Self.line(&bytes)
            if line.isEmpty { break }
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), Self.isName(line[..<colon]) else {
                throw MalformedHeaders()
            }
            let value = Self.trimmed(line[line.index(after: colon)...])
            self.fields.append(Field(name: String(Substring(line[..<colon])), value: String(Substring(value))))
        }
        guard bytes.isEmpty else { throw MalformedHeaders() }
    }

    /// Takes the next line without its end.
    private static func line(_ bytes: inout Substring.UTF8View) throws(MalformedHeaders) -> Substring.UTF8View {
        guard let feed = bytes.firstIndex(of: 0x0A), feed > bytes.startIndex else { throw MalformedHeaders() }
        let line = bytes[..<feed]
        bytes = bytes[bytes.index(after: feed)...]
        guard line.last == 0x0D else { throw MalformedHeaders() }
        return line.dropLast()
    }

    private static func status(in line: Substring.UTF8View) throws(MalformedHeaders) -> Status? {
        let text = Self.trimmed(line)
        if text.isEmpty { return nil }
        guard line.first == 0x20, let code = Int(Substring(text.prefix(3))), (100...999).contains(code) else {
            throw MalformedHeaders()
        }
        let rest = text.dropFirst(3)
        guard rest.isEmpty || rest.first == 0x20 else { throw MalformedHeaders() }
        return Status(code: code, description: String(Substring(Self.trimmed(rest))))
    }

    private static func isName(_ bytes: some Collection<UInt8>) -> Bool {
        !bytes.isEmpty && bytes.allSatisfy { (33...126).contains($0) && $0 != UInt8(ascii: ":") }
    }

    private static func trimmed(_ bytes: Substring.UTF8View) -> Substring.UTF8View {
        var bytes = bytes.drop { $0 == 0x20 || $0 == 0x09 }
        while let last = bytes.last, last == 0x20 || last == 0x09 { bytes.removeLast() }
        return bytes
    }
}
