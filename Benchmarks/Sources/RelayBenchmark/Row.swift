/// One line of a result: named figures in order, as a table row and as JSON.
struct Row {
    enum Value {
        case text(String)
        case count(Int)
        /// A number with this many fraction digits.
        case number(Double, digits: Int)
    }

    private(set) var fields: [(name: String, value: Value)]

    init(_ fields: KeyValuePairs<String, Value>) { self.fields = fields.map { ($0.key, $0.value) } }

    /// Returns a JSON object.
    func json(benchmark: String) -> String {
        let fields = [(name: "benchmark", value: Value.text(benchmark))] + self.fields
        let members = fields.map { field in
            switch field.value {
            case .text(let text): #""\#(field.name)":"\#(text)""#
            case .count(let count): #""\#(field.name)":\#(count)"#
            case .number(let number, let digits): #""\#(field.name)":\#(Self.written(number, digits: digits))"#
            }
        }
        return "{\(members.joined(separator: ","))}"
    }

    /// Returns rows with the same names as a table in Markdown.
    static func table(_ rows: [Row]) -> String {
        guard let first = rows.first else { return "" }
        var lines = [first.fields.map(\.name), first.fields.map { _ in "---" }]
        for row in rows {
            lines.append(
                row.fields.map { field in
                    switch field.value {
                    case .text(let text): text
                    case .count(let count): "\(count)"
                    case .number(let number, let digits): Self.written(number, digits: digits)
                    }
                }
            )
        }
        return lines.map { "| \($0.joined(separator: " | ")) |" }.joined(separator: "\n")
    }

    private static func written(_ number: Double, digits: Int) -> String {
        guard number.isFinite else { return "null" }
        var scale = 1
        for _ in 0..<digits { scale *= 10 }
        let scaled = Int((number.magnitude * Double(scale)).rounded())
        let sign = number < 0 && scaled > 0 ? "-" : ""
        guard digits > 0 else { return "\(sign)\(scaled)" }
        return "\(sign)\(scaled / scale).\("\(scale + scaled % scale)".dropFirst())"
    }
}

extension [Double] {
    /// The median; for an even number of values, the upper one of the middle two.
    var median: Double { self.isEmpty ? .nan : self.sorted()[self.count / 2] }
}
