package import NIOCore

/// The objects of a JSON list, reduced to their texts and whole numbers.
package enum JSONObjects {
    package struct Object {
        private var texts: [String: String] = [:]
        private var numbers: [String: Int64] = [:]

        package func text(_ key: String) -> String? { self.texts[key] }
        package func number(_ key: String) -> Int64? { self.numbers[key] }

        fileprivate init?(_ reader: inout JSONReader) {
            let isWhole = reader.object { key, reader in
                switch reader.kind() {
                case .string:
                    guard let value = reader.string() else { return false }
                    self.texts[key.text] = value.text
                case .number:
                    self.numbers[key.text] = reader.integer()
                case .object, .array, .literal, .invalid:
                    return reader.skipValue()
                }
                return true
            }
            guard isWhole else { return nil }
        }
    }

    /// Reads a list of objects. Elements that are not objects are skipped, and so are objects for which `make` returns
    /// `nil`.
    ///
    /// - Parameter limit: the largest number of elements; a longer list is invalid.
    /// - Returns: `nil` if the text is not one valid list, or a nonempty list contains nothing usable.
    package static func read<Value>(_ body: ByteBuffer, limit: Int, _ make: (Object) -> Value?) -> [Value]? {
        body.withUnsafeReadableBytes { bytes in
            var reader = JSONReader(bytes)
            guard reader.take(UInt8(ascii: "[")) else { return nil }
            var values: [Value] = []
            var count = 0
            if !reader.take(UInt8(ascii: "]")) {
                repeat {
                    count += 1
                    guard count <= limit else { return nil }
                    if reader.kind() == .object {
                        guard let object = Object(&reader) else { return nil }
                        if let value = make(object) { values.append(value) }
                    } else {
                        guard reader.skipValue() else { return nil }
                    }
                } while reader.take(UInt8(ascii: ","))
                guard reader.take(UInt8(ascii: "]")) else { return nil }
            }
            return reader.isAtEnd() && (count == 0 || !values.isEmpty) ? values : nil
        }
    }
}
