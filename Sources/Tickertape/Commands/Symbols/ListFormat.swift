import ArgumentParser
import Glibc
import Market
import NIOCore
import Terminal
import Wire

/// The format of a printed list.
enum ListFormat: String, CaseIterable, ExpressibleByArgument {
    case plain, json, csv
}

/// A list for standard output, with named columns and one value per column in every row.
struct PrintedList {
    /// A number is written as it is, text with the escapes of JSON or CSV.
    enum Value {
        case text(String)
        case number(Int64)

        /// The limit of a complete value, in columns. It exceeds any value of the program, since a truncated address of
        /// 2,048 bytes would be useless.
        fileprivate static let whole = 4_096
        /// The limit of a value in an aligned column, in columns.
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

    /// Returns the lines in a format, without line ends.
    func lines(_ format: ListFormat) -> [String] {
        switch format {
        case .plain:
            let texts = self.rows.map { row in
                row.enumerated().map { $1.text(columns: $0 == row.count - 1 ? Value.whole : Value.inColumns) }
            }
            // All columns but the last are aligned.
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

    /// Prints the list. A closed pipe is not an error.
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
