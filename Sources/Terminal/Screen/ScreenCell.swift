import Market

extension ScreenGrid {
    /// One cell of a screen: a character with up to two combining marks, in a style.
    ///
    /// It holds no reference, so that thousands of cells are created, compared and discarded like numbers.
    struct Cell: Sendable, Equatable {
        /// Up to three scalars of 21 bits, the first one lowest; 0 for no text.
        private var scalars: UInt64
        /// The columns: 1 or 2; 0 for the right half of a wide character.
        var width: UInt8
        var style: CellStyle

        private static let scalarBits: UInt64 = 21
        private static let scalarMask: UInt64 = 1 << scalarBits - 1

        init(text: String, width: UInt8, style: CellStyle) {
            self.scalars = Self.packed(text)
            self.width = width
            self.style = style
        }

        /// Creates a cell with one character of one column.
        init(_ scalar: Unicode.Scalar, style: CellStyle) {
            self.scalars = UInt64(scalar.value)
            self.width = 1
            self.style = style
        }

        /// One printable unit; empty in the right half of a wide character.
        var text: String {
            get {
                var text = ""
                self.forEachScalar { text.unicodeScalars.append($0) }
                return text
            }
            set { self.scalars = Self.packed(newValue) }
        }

        static let blank = Cell(" ", style: .plain)

        /// Whether it holds one scalar of one column. A terminal set up for East Asian text may give an ambiguous one
        /// two columns (UAX #11).
        var isSimple: Bool { self.width == 1 && self.scalars <= Self.scalarMask && self.scalars != 0 }

        /// Whether it takes one column on every terminal: ASCII, Braille and octants, and no ambiguous character.
        var isNarrow: Bool {
            self.width == 1
                && (0x20...0x7E ~= self.scalars || 0x2800...0x28FF ~= self.scalars || 0x1CD00...0x1CDE5 ~= self.scalars)
        }

        /// The length of its text in UTF-8, bytes.
        var byteCount: Int {
            var count = 0
            self.forEachScalar { count += UTF8.width($0) }
            return count
        }

        func append(to bytes: inout [UInt8]) {
            if self.scalars < 0x80, self.scalars != 0 {
                bytes.append(UInt8(truncatingIfNeeded: self.scalars))
                return
            }
            self.forEachScalar { scalar in
                UTF8.encode(scalar).map { bytes.append(contentsOf: $0) }
            }
        }

        private func forEachScalar(_ body: (Unicode.Scalar) -> Void) {
            var rest = self.scalars
            while rest != 0 {
                if let scalar = Unicode.Scalar(UInt32(rest & Self.scalarMask)) { body(scalar) }
                rest >>= Self.scalarBits
            }
        }

        private static func packed(_ text: String) -> UInt64 {
            var packed: UInt64 = 0
            var shift: UInt64 = 0
            for scalar in text.unicodeScalars.prefix(1 + ScreenText.marksPerUnit) {
                packed |= UInt64(scalar.value) << shift
                shift += Self.scalarBits
            }
            return packed
        }
    }
}
