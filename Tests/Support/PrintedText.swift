import Foundation

/// What a program has printed so far, with the places of its lines.
struct PrintedText: Sendable {
    private(set) var bytes: [UInt8] = []
    /// Behind each line's end.
    private var ends: [Int] = []

    /// The lines that are whole.
    var lineCount: Int { self.ends.count }

    var text: String { String(decoding: self.bytes, as: UTF8.self) }

    mutating func add(_ data: Data) {
        let start = self.bytes.count
        self.bytes.append(contentsOf: data)
        self.bytes.withUnsafeBytes { bytes in
            var place = start
            while let end = memchr(bytes.baseAddress! + place, 10, bytes.count - place) {
                place = bytes.baseAddress!.distance(to: UnsafeRawPointer(end)) + 1
                self.ends.append(place)
                if place == bytes.count { break }
            }
        }
    }

    /// A whole line, without its end.
    func line(_ index: Int) -> ArraySlice<UInt8> {
        self.bytes[(index == 0 ? 0 : self.ends[index - 1])..<self.ends[index] - 1]
    }

    /// Whether `text` stands behind a place.
    func contains(_ text: [UInt8], from place: Int) -> Bool {
        guard let first = text.first else { return true }
        return self.bytes.withUnsafeBytes { bytes in
            var start = place
            while start + text.count <= bytes.count {
                let rest = bytes.baseAddress! + start
                guard let found = memchr(rest, Int32(first), bytes.count - text.count - start + 1) else { return false }
                if memcmp(found, text, text.count) == 0 { return true }
                start += rest.distance(to: UnsafeRawPointer(found)) + 1
            }
            return false
        }
    }
}
