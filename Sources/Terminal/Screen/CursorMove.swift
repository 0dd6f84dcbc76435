/// The shortest cursor movement from one place to another, as bytes (ECMA-48: CUP, CUU, CUD, CUF, CUB; and the controls
/// BS and CR).
///
/// Rows and columns count from 0. Both places lie on the screen; the cursor must not stand behind the last column.
enum CursorMove {
    struct Place: Equatable {
        var row: Int
        var column: Int
    }

    /// Returns how many bytes ``append(from:to:into:)`` writes.
    static func length(from old: Place?, to new: Place) -> Int {
        let direct = Self.directLength(to: new)
        guard let old else { return direct }
        return min(direct, Self.verticalLength(old, new) + Self.horizontalLength(old, new))
    }

    /// Appends the movement.
    ///
    /// - Parameter old: the cursor's place; `nil` where it is unknown.
    static func append(from old: Place?, to new: Place, into bytes: inout [UInt8]) {
        guard let old, Self.verticalLength(old, new) + Self.horizontalLength(old, new) <= Self.directLength(to: new)
        else {
            self.appendDirect(to: new, into: &bytes)
            return
        }
        if new.row != old.row {
            self.appendSequence(abs(new.row - old.row), new.row > old.row ? "B" : "A", into: &bytes)
        }
        let distance = new.column - old.column
        if distance > 0 { self.appendSequence(distance, "C", into: &bytes) }
        guard distance < 0 else { return }
        let (steps, back) = (-distance, Self.sequenceLength(-distance))
        let home = Self.homeLength(new.column)
        if steps <= min(back, home) {
            for _ in 0..<steps { bytes.append(0x08) }
        } else if home <= back {
            bytes.append(0x0D)
            if new.column > 0 { self.appendSequence(new.column, "C", into: &bytes) }
        } else {
            self.appendSequence(steps, "D", into: &bytes)
        }
    }

    private static func appendDirect(to place: Place, into bytes: inout [UInt8]) {
        bytes += [0x1B, UInt8(ascii: "[")]
        if place.row > 0 || place.column > 0 { self.appendNumber(place.row + 1, into: &bytes) }
        if place.column > 0 {
            bytes.append(UInt8(ascii: ";"))
            self.appendNumber(place.column + 1, into: &bytes)
        }
        bytes.append(UInt8(ascii: "H"))
    }

    private static func appendSequence(_ count: Int, _ final: Unicode.Scalar, into bytes: inout [UInt8]) {
        bytes += [0x1B, UInt8(ascii: "[")]
        if count > 1 { self.appendNumber(count, into: &bytes) }
        bytes.append(UInt8(ascii: final))
    }

    private static func appendNumber(_ number: Int, into bytes: inout [UInt8]) {
        if number >= 10 { self.appendNumber(number / 10, into: &bytes) }
        bytes.append(UInt8(ascii: "0") + UInt8(number % 10))
    }

    private static func directLength(to place: Place) -> Int {
        let row = place.row > 0 || place.column > 0 ? Self.digits(place.row + 1) : 0
        return 3 + row + (place.column > 0 ? 1 + Self.digits(place.column + 1) : 0)
    }

    private static func verticalLength(_ old: Place, _ new: Place) -> Int {
        new.row == old.row ? 0 : Self.sequenceLength(abs(new.row - old.row))
    }

    private static func horizontalLength(_ old: Place, _ new: Place) -> Int {
        let distance = new.column - old.column
        if distance >= 0 { return distance == 0 ? 0 : Self.sequenceLength(distance) }
        return min(-distance, Self.sequenceLength(-distance), Self.homeLength(new.column))
    }

    private static func homeLength(_ column: Int) -> Int { 1 + (column == 0 ? 0 : Self.sequenceLength(column)) }

    private static func sequenceLength(_ count: Int) -> Int { count == 1 ? 3 : 3 + Self.digits(count) }

    private static func digits(_ number: Int) -> Int {
        switch number {
        case ..<10: 1
        case ..<100: 2
        case ..<1_000: 3
        default: 4
        }
    }
}
