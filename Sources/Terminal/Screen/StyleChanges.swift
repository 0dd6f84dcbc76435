/// The bytes that change one style of a terminal to another, each made once.
///
/// The links of cells are left out: they are no part of a style's bytes. So there are few styles, whatever a screen shows.
struct StyleChanges: Sendable {
    let palette: ScreenPalette
    private var styles: [CellStyle] = []
    /// The numbers of the styles, by ink and attributes; -1 for a style that has not occurred.
    private var numbers = [Int16](repeating: -1, count: CellStyle.Ink.allCases.count << 8)
    /// The bytes of the changes that have occurred.
    private var texts: [[UInt8]] = []
    /// For each pair of styles the place of its bytes in `texts`, -1 if there is none, and their number. Lines of numbers,
    /// because a frame compares some ten thousand pairs, and lists in lists cost a reference count each.
    private var places: [Int32] = []
    private var lengths: [Int32] = []
    /// The number of styles that `places` has room for.
    private var room = 0

    init(_ palette: ScreenPalette) { self.palette = palette }

    /// Returns the number of a style.
    mutating func number(of style: CellStyle) -> Int {
        let place = Int(style.ink.rawValue) << 8 | Int(style.attributes.rawValue)
        if self.numbers[place] >= 0 { return Int(self.numbers[place]) }
        self.numbers[place] = Int16(self.styles.count)
        self.styles.append(CellStyle(style.ink, style.attributes))
        if self.styles.count > self.room {
            self.room = max(32, self.room * 2)
            self.texts = []
            self.places = [Int32](repeating: -1, count: self.room * self.room)
            self.lengths = self.places
        }
        return self.styles.count - 1
    }

    /// Returns how many bytes the change takes.
    mutating func length(from old: Int, to new: Int) -> Int {
        let known = self.lengths[old * self.room + new]
        return known >= 0 ? Int(known) : self.bytes(from: old, to: new).count
    }

    /// Returns the bytes of the change.
    mutating func bytes(from old: Int, to new: Int) -> [UInt8] {
        let pair = old * self.room + new
        if self.places[pair] >= 0 { return self.texts[Int(self.places[pair])] }
        let codes = old == new ? nil : self.palette.change(from: self.styles[old], to: self.styles[new])
        let bytes = codes.map { Array("\u{1B}[\($0)m".utf8) } ?? []
        (self.places[pair], self.lengths[pair]) = (Int32(self.texts.count), Int32(bytes.count))
        self.texts.append(bytes)
        return bytes
    }
}
