import ArgumentParser
import Glibc
import Market
import NIOCore
import Terminal
import Wire

/// How a command prints a list.
enum ListFormat: String, CaseIterable, ExpressibleByArgument {
    case plain, json, csv
}

/// A list for standard output: columns with a name, and a value for each in every row.
struct PrintedList {
    /// A number is written as it is, text as JSON or CSV wants it.
    enum Value {
        case text(String)
        case number(Int64)

        /// More than any text of ours has: an address of 2,048 bytes that is cut leads nowhere.
        fileprivate static let whole = 4_096
        /// What others stand behind of, in columns.
        fileprivate static let inColumns = 512

        fileprivate func text(columns: Int = Self.whole) -> String {
            switch self {
            case .text(let text): ScreenText.clean(text, columns: columns)
            case .number(let number): "\(number)"
            }
        }
    }

    let columns: [String]
    var rows: [[Value]] = []

    /// The lines in a format, without their ends.
    func lines(_ format: ListFormat) -> [String] {
        switch format {
        case .plain:
            let texts = self.rows.map { row in
                row.enumerated().map { $1.text(columns: $0 == row.count - 1 ? Value.whole : Value.inColumns) }
            }
            // All but the last column stand below each other.
            let widths = self.columns.indices.map { column in
                texts.map { ScreenText.width(of: $0[column]) }.max() ?? 0
            }
            return texts.map { row in
                row.indices.map { column in
                    let room = column == row.count - 1 ? 0 : widths[column] - ScreenText.width(of: row[column])
                    return row[column] + String(repeating: " ", count: max(room, 0))
                }.joined(separator: "  ").trimmingBlanks()
            }
        case .csv:
            return [self.columns.joined(separator: ",")]
                + self.rows.map { row in row.map { CSVText.field($0.text()) }.joined(separator: ",") }
        case .json:
            return self.rows.map { row in
                let object = JSONWriter.object { out in
                    for (column, value) in zip(self.columns, row) {
                        switch value {
                        case .number(let number): out.field(named: column, number)
                        case .text(let text): out.field(named: column, text)
                        }
                    }
                }
                return String(buffer: object)
            }
        }
    }

    /// Prints it; a reader that goes away is no error.
    func print(_ format: ListFormat) {
        signal(SIGPIPE, SIG_IGN)
        for line in self.lines(format) {
            switch format {
            case .plain: Console.print(line)
            case .csv: Console.print(csv: line)
            case .json: Console.print(json: line)
            }
        }
    }
}
