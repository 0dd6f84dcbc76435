package import NIOCore

/// A client's request to a venue's WebSocket, in whatever form the venue has: the members that any of them knows.
///
/// It is read from a stranger's text, so every list is bounded.
package struct VenueRequestReader: Sendable, Equatable {
    /// One entry of Coinbase's `channels`: a name, or a name with products.
    package struct Channel: Sendable, Equatable {
        package var name: String
        /// The entry's own products; `nil` if it has none, and those of the request count.
        package var products: [String]?
    }

    /// The most names in a list. It exceeds every venue's limit, so that the venue's own answer to too many is found.
    package static let maximumNames = 4_096
    /// The most bytes of an id.
    private static let longestID = 64

    /// What is asked for: Binance's and Kraken's `method`, Coinbase's `type`.
    package private(set) var verb: String?
    /// The request's id as JSON, Binance's `id`; `nil` without one.
    package private(set) var id: ByteBuffer?
    /// Whether the id is neither an integer, nor a text of at most 36 bytes, nor `null`.
    package private(set) var hasBadID = false
    /// Kraken's `req_id`.
    package private(set) var number: Int64?
    /// Binance's `params`, without the elements that are not text.
    package private(set) var names: [String] = []
    /// The flag among Binance's `params`.
    package private(set) var flag: Bool?
    /// Coinbase's `product_ids`, or Kraken's `symbol`.
    package private(set) var products: [String] = []
    /// Coinbase's `channels`; Kraken's only `channel`.
    package private(set) var channels: [Channel] = []
    /// Kraken's `snapshot`.
    package private(set) var snapshot: Bool?

    /// Reads a request; `nil` if the text is not a JSON object, or has a list that is too long.
    package init?(_ text: ByteBuffer) {
        var read = VenueRequestReader()
        let isWhole = text.withUnsafeReadableBytes { bytes in
            JSONReader.wholeObject(bytes) { key, reader in read.take(key, &reader) }
        }
        guard isWhole else { return nil }
        self = read
    }

    private init() {}

    private mutating func take(_ key: JSONString, _ reader: inout JSONReader) -> Bool {
        if key.equals("method") || key.equals("type") { return Self.text(&reader, into: &self.verb) }
        if key.equals("id") { return self.takeID(&reader) }
        if key.equals("req_id") {
            guard reader.kind() == .number else { return reader.skipValue() }
            self.number = reader.integer()
            return true
        }
        if key.equals("params") {
            switch reader.kind() {
            case .array: return self.takeParameters(&reader)
            case .object: return reader.object { key, reader in self.takeMember(key, &reader) }
            case .string, .number, .literal, .invalid: return reader.skipValue()
            }
        }
        if key.equals("product_ids") { return Self.names(&reader, into: &self.products) }
        if key.equals("channels") { return self.takeChannels(&reader) }
        return reader.skipValue()
    }

    /// Takes a member of Kraken's `params`.
    private mutating func takeMember(_ key: JSONString, _ reader: inout JSONReader) -> Bool {
        if key.equals("channel") {
            var name: String?
            guard Self.text(&reader, into: &name) else { return false }
            self.channels = name.map { [Channel(name: $0)] } ?? []
            return true
        }
        if key.equals("symbol") { return Self.names(&reader, into: &self.products) }
        if key.equals("snapshot") { return Self.flag(&reader, into: &self.snapshot) }
        return reader.skipValue()
    }

    private mutating func takeID(_ reader: inout JSONReader) -> Bool {
        let kind = reader.kind()
        guard let raw = reader.rawValue() else { return false }
        switch kind {
        case .number: self.hasBadID = Int64(String(decoding: raw, as: UTF8.self)) == nil
        case .string: self.hasBadID = raw.count > 38
        case .literal: self.hasBadID = raw.first != UInt8(ascii: "n")
        case .object, .array, .invalid: self.hasBadID = true
        }
        self.id = raw.count <= Self.longestID ? ByteBuffer(bytes: raw) : nil
        return true
    }

    private mutating func takeParameters(_ reader: inout JSONReader) -> Bool {
        var count = 0
        var names: [String] = []
        var flag: Bool?
        let isWhole = Self.list(&reader) { reader in
            count += 1
            guard count <= Self.maximumNames else { return false }
            switch reader.kind() {
            case .string:
                guard let name = reader.string() else { return false }
                names.append(name.text)
                return true
            case .literal: return Self.flag(&reader, into: &flag)
            case .number, .object, .array, .invalid: return reader.skipValue()
            }
        }
        (self.names, self.flag) = (names, flag)
        return isWhole
    }

    private mutating func takeChannels(_ reader: inout JSONReader) -> Bool {
        guard reader.kind() == .array else { return reader.skipValue() }
        var channels: [Channel] = []
        let isWhole = Self.list(&reader) { reader in
            guard channels.count < Self.maximumNames else { return false }
            switch reader.kind() {
            case .string:
                guard let name = reader.string() else { return false }
                channels.append(Channel(name: name.text))
                return true
            case .object:
                var name: String?
                var products: [String]?
                let isRead = reader.object { key, reader in
                    if key.equals("name") { return Self.text(&reader, into: &name) }
                    guard key.equals("product_ids") else { return reader.skipValue() }
                    var list: [String] = []
                    guard Self.names(&reader, into: &list) else { return false }
                    products = list
                    return true
                }
                if let name { channels.append(Channel(name: name, products: products)) }
                return isRead
            case .number, .literal, .array, .invalid: return reader.skipValue()
            }
        }
        self.channels = channels
        return isWhole
    }

    private static func list(_ reader: inout JSONReader, _ body: (inout JSONReader) -> Bool) -> Bool {
        guard reader.take(UInt8(ascii: "[")) else { return false }
        if reader.take(UInt8(ascii: "]")) { return true }
        repeat {
            guard body(&reader) else { return false }
        } while reader.take(UInt8(ascii: ","))
        return reader.take(UInt8(ascii: "]"))
    }

    /// Reads a list of names, or a single one.
    private static func names(_ reader: inout JSONReader, into names: inout [String]) -> Bool {
        switch reader.kind() {
        case .string:
            guard let name = reader.string() else { return false }
            names = [name.text]
            return true
        case .array:
            guard let list = reader.strings(atMost: Self.maximumNames) else { return false }
            names = list
            return true
        case .object, .number, .literal, .invalid: return reader.skipValue()
        }
    }

    private static func text(_ reader: inout JSONReader, into text: inout String?) -> Bool {
        guard reader.kind() == .string else { return reader.skipValue() }
        text = reader.string()?.text
        return text != nil
    }

    private static func flag(_ reader: inout JSONReader, into flag: inout Bool?) -> Bool {
        guard reader.kind() == .literal, let first = reader.literal() else { return reader.skipValue() }
        switch first {
        case UInt8(ascii: "t"): flag = true
        case UInt8(ascii: "f"): flag = false
        default: break
        }
        return true
    }
}
